//! `hermod control`: how much may be sent before somebody should look.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::Left;
use clap::{ArgGroup, Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  hermod control list
  hermod control set shop-day --account shop --spend-per-day 50
  hermod control set one-recipient --per-recipient 20/1h
  hermod control set one-range --per-range 200/10m --mode watch
  hermod control set abroad --per-country 50/1h --except DE,AT
  hermod control remove shop-day

Each has one limit. What is beyond it gets 429 TRAFFIC_CONTROL; a control that only watches counts
it: hermod account traffic NAME. Days are UTC days.";

/// Traffic controls: how much may be sent before somebody should look
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Control {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Example:\n  hermod control list")]
    List,
    /// Show one with every field
    #[command(after_help = "Example:\n  hermod control show shop-day")]
    Show { name: String },
    /// Make one, or change it
    #[command(after_help = "Examples:\n  hermod control set shop-day --account shop --spend-per-day 50\n  \
                            hermod control set shop-day --mode watch")]
    Set(Box<Set>),
    /// Take one away
    #[command(after_help = "Example:\n  hermod control remove shop-day")]
    Remove { name: String },
}

#[derive(Args)]
#[command(group = ArgGroup::new("limit").multiple(false))]
struct Set {
    /// What it is called
    name: String,
    /// For this account only; without it, for each account on its own
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Refuse what is beyond, or only count it
    #[arg(long, value_name = "MODE", value_parser = ["enforce", "watch"])]
    mode: Option<String>,
    /// Money in a day
    #[arg(long, value_name = "AMOUNT", group = "limit")]
    spend_per_day: Option<String>,
    /// Messages in a day
    #[arg(long, value_name = "N", group = "limit")]
    messages_per_day: Option<u64>,
    /// Messages to one number in a while, such as 20/1h
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_recipient: Option<Most>,
    /// Messages to numbers that differ in their last four digits only, such as 200/10m
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_range: Option<Most>,
    /// Messages to any one country in a while, such as 50/1h
    #[arg(long, value_name = "N/TIME", group = "limit", value_parser = read_most)]
    per_country: Option<Most>,
    /// Countries without that limit, such as DE,AT
    #[arg(long, value_name = "COUNTRIES", value_delimiter = ',', requires = "per_country")]
    except: Vec<String>,
}

/// So many in so long.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Most {
    most: u32,
    per: String,
}

fn read_most(text: &str) -> Result<Most, String> {
    let (most, per) = text.split_once('/').ok_or("write how many in how long, such as 20/1h")?;
    let most = most.parse().map_err(|_| format!("{most:?} is no number of messages"))?;
    Ok(Most { most, per: per.to_owned() })
}

impl From<Most> for Value {
    fn from(Most { most, per }: Most) -> Value {
        json!({ "most": most, "per": per })
    }
}

const COLUMNS: [Column; 4] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("mode", Left, |entry| text(&entry["mode"])),
    ("limit", Left, limit),
];

/// What a control is about, in words.
pub(super) fn limit(entry: &Value) -> String {
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

impl Control {
    pub(crate) fn run(self) -> Ended {
        let Control { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::Show { name } => entries::show(desk, Kind::Control, &name).await,
            What::List => entries::list(desk, Kind::Control, None, &COLUMNS).await,
            What::Set(set) => set.run(desk).await,
            What::Remove { name } => entries::remove(desk, Kind::Control, &name).await,
        })
    }
}

impl Set {
    async fn run(self, desk: &Desk) -> Ended {
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
        let mut fields = Fields::default().with("account", account).with("mode", mode);
        // A new limit takes the place of whichever there was.
        if limits.iter().any(|(_, limit)| limit.is_some()) {
            for (field, limit) in limits {
                fields = fields.with(field, Some(limit.unwrap_or(Value::Null)));
            }
        }
        entries::set(desk, Kind::Control, &name, fields).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_so_long_is_read() {
        assert_eq!(read_most("20/1h"), Ok(Most { most: 20, per: "1h".to_owned() }));
        assert_eq!(read_most("20"), Err("write how many in how long, such as 20/1h".to_owned()));
        assert_eq!(read_most("x/1h"), Err("\"x\" is no number of messages".to_owned()));
    }

    #[test]
    fn limits_are_shown_in_words() {
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
