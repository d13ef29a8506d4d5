//! `hermod control`: traffic controls, limits on messages and spend.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::operator_client::OperatorClient;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::Align::Left;
use clap::{ArgGroup, Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::views::money::ControlView;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  hermod control list
  hermod control set shop-day --account shop --spend-per-day 50
  hermod control set one-recipient --per-recipient 20/1h
  hermod control set one-range --per-range 200/10m --mode watch
  hermod control set abroad --per-country 50/1h --except DE,AT
  hermod control remove shop-day

Each control has one limit. Messages above it are rejected with 429 TRAFFIC_CONTROL; a control in
the mode watch only counts them: hermod account traffic NAME. Days are UTC days.";

/// Manage traffic controls: limits on messages and spend
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct ControlArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: ControlCommand,
}

#[derive(Subcommand)]
enum ControlCommand {
    /// List traffic controls
    #[command(after_help = "Example:\n  hermod control list")]
    List,
    /// Show all fields of a traffic control
    #[command(after_help = "Example:\n  hermod control show shop-day")]
    Show {
        /// The traffic control
        name: String,
    },
    /// Create or change a traffic control
    #[command(after_help = "Examples:\n  hermod control set shop-day --account shop --spend-per-day 50\n  \
                            hermod control set shop-day --mode watch")]
    Set(Box<Set>),
    /// Remove a traffic control
    #[command(after_help = "Example:\n  hermod control remove shop-day")]
    Remove {
        /// The traffic control
        name: String,
    },
}

#[derive(Args)]
#[command(group = ArgGroup::new("limit").multiple(false))]
struct Set {
    /// Name of the traffic control
    name: String,
    /// Only for this account [default: for each account on its own]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Whether to reject messages above the limit, or only count them
    #[arg(long, value_name = "MODE", value_parser = ["enforce", "watch"])]
    mode: Option<String>,
    /// Spend per day
    #[arg(long, value_name = "AMOUNT", group = "limit")]
    spend_per_day: Option<String>,
    /// Messages per day
    #[arg(long, value_name = "N", group = "limit")]
    messages_per_day: Option<u64>,
    /// Messages to one number per time, such as 20/1h
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_recipient: Option<Most>,
    /// Messages to numbers that differ only in the last four digits per time, such as 200/10m
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_range: Option<Most>,
    /// Messages to one country per time, such as 50/1h
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_country: Option<Most>,
    /// Countries that --per-country does not limit, such as DE,AT
    #[arg(long, value_name = "COUNTRIES", value_delimiter = ',', requires = "per_country")]
    except: Vec<String>,
}

/// A number of messages per time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Most {
    most: u32,
    per: String,
}

fn read_most(text: &str) -> Result<Most, String> {
    let (most, per) = text.split_once('/').ok_or("write a number per time, such as 20/1h")?;
    let most = most.parse().map_err(|_| format!("{most:?} is not a number of messages"))?;
    Ok(Most { most, per: per.to_owned() })
}

impl From<Most> for Value {
    fn from(Most { most, per }: Most) -> Value {
        json!({ "most": most, "per": per })
    }
}

const COLUMNS: [Column<Value>; 4] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("mode", Left, |entry| text(&entry["mode"])),
    ("limit", Left, limit),
];

/// Returns the limit of a control as text.
fn limit(entry: &Value) -> String {
    let most = |rule: &Value| format!("{} per {}", text(&rule["most"]), text(&rule["per"]));
    if !entry["spend_per_day"].is_null() {
        format!("spend {} per day", text(&entry["spend_per_day"]))
    } else if !entry["messages_per_day"].is_null() {
        format!("{} messages per day", text(&entry["messages_per_day"]))
    } else if !entry["per_recipient"].is_null() {
        format!("one number: {}", most(&entry["per_recipient"]))
    } else if !entry["per_range"].is_null() {
        format!("one range: {}", most(&entry["per_range"]))
    } else {
        let rule = &entry["per_country"];
        let except = rule["except"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ");
        let but = if except.is_empty() { except } else { format!(" except {except}") };
        format!("one country{but}: {}", most(rule))
    }
}

/// Returns the limit of a control in a traffic view.
pub(super) fn limit_of_view(control: &ControlView) -> String {
    limit(&serde_json::to_value(control).unwrap_or_default())
}

impl ControlArgs {
    pub(crate) fn run(self) -> CommandResult {
        let ControlArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            ControlCommand::Show { name } => entries::show(client, Kind::Control, &name).await,
            ControlCommand::List => entries::list(client, Kind::Control, None, &COLUMNS).await,
            ControlCommand::Set(set) => set.run(client).await,
            ControlCommand::Remove { name } => entries::remove(client, Kind::Control, &name).await,
        })
    }
}

impl Set {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let Set {
            name,
            account,
            mode,
            spend_per_day,
            messages_per_day,
            per_recipient,
            per_range,
            per_country,
            except,
        } = self;
        let per_country =
            per_country.map(|Most { most, per }| json!({ "most": most, "per": per, "except": except }));
        let limits = [
            ("spend_per_day", spend_per_day.map(Value::from)),
            ("messages_per_day", messages_per_day.map(Value::from)),
            ("per_recipient", per_recipient.map(Value::from)),
            ("per_range", per_range.map(Value::from)),
            ("per_country", per_country),
        ];
        let mut fields = EntryFields::default().with("account", account).with("mode", mode);
        // A new limit replaces the previous one.
        if limits.iter().any(|(_, limit)| limit.is_some()) {
            for (field, limit) in limits {
                fields = fields.with(field, Some(limit.unwrap_or(Value::Null)));
            }
        }
        entries::set(client, Kind::Control, &name, fields).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_per_time_is_parsed() {
        assert_eq!(read_most("20/1h"), Ok(Most { most: 20, per: "1h".to_owned() }));
        assert_eq!(read_most("20"), Err("write a number per time, such as 20/1h".to_owned()));
        assert_eq!(read_most("x/1h"), Err("\"x\" is not a number of messages".to_owned()));
    }

    #[test]
    fn limits_are_printed_as_text() {
        for (entry, expect) in [
            (json!({ "spend_per_day": "50" }), "spend 50 per day"),
            (json!({ "messages_per_day": 7 }), "7 messages per day"),
            (json!({ "per_recipient": { "most": 20, "per": "1h" } }), "one number: 20 per 1h"),
            (json!({ "per_range": { "most": 200, "per": "10m" } }), "one range: 200 per 10m"),
            (json!({ "per_country": { "most": 50, "per": "1h" } }), "one country: 50 per 1h"),
            (
                json!({ "per_country": { "most": 50, "per": "1h", "except": ["DE", "AT"] } }),
                "one country except DE, AT: 50 per 1h",
            ),
        ] {
            assert_eq!(limit(&entry), expect);
        }
    }
}
