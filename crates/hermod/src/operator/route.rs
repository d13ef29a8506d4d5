//! `hermod route`: routes, the carriers of a destination.

use super::entries::{self, text};
use super::explain;
use super::fields::EntryFields;
use super::list::Column;
use super::target::{MissingDir, TargetArgs};
use crate::failure::{CommandResult, Failure};
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  hermod route list
  hermod route set '*' --carrier acme
  hermod route set 49 --carrier acme --carrier backup
  hermod route explain +4915112345678 --account shop --from Shop
  hermod route remove 49

The name of a route is [ACCOUNT/]AREA[@SENDER]. AREA is a prefix without a plus (49), a country (DE),
a network (262-01), an MCC (mcc262), or * for every number. The most specific route is taken: first
by account and sender, then by account, by sender, for all; among those by network, longest prefix,
country, then *.";

const SET_EXAMPLES: &str = "\
Examples:
  hermod route set 49 --carrier acme --carrier backup
  hermod route set 262-01 --carrier acme:1:70 --carrier beta:1:30 --carrier backup:2
  hermod route set shop/mcc262@Shop --carrier beta --fail-over-refusals true
  hermod route set 49 --in-doubt never-resend

--carrier is NAME, NAME:PRIORITY or NAME:PRIORITY:WEIGHT. Without priorities, the first carrier is
preferred and the next ones are its fallback. Carriers of the same priority share the recipients by
weight, and a recipient keeps its carrier while that carrier is healthy.";

/// Manage routes: the carriers of a destination
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: RouteCommand,
}

#[derive(Subcommand)]
enum RouteCommand {
    /// List routes
    #[command(after_help = "Examples:\n  hermod route list\n  hermod route list --account shop")]
    List {
        /// Only routes of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show all fields of a route
    #[command(after_help = "Example:\n  hermod route show shop/49@Shop")]
    Show {
        /// Name of the route
        route: String,
    },
    /// Create or change a route
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// Name of the route: `[ACCOUNT/]AREA[@SENDER]`
        route: String,
        /// Carrier with priority and weight; repeatable
        #[arg(long = "carrier", value_name = "NAME[:PRIORITY[:WEIGHT]]")]
        carriers: Vec<String>,
        /// Policy for parts without a response; '' uses the policy of the carrier
        #[arg(long, value_name = "POLICY", value_parser = ["resend", "resend-once", "never-resend", ""])]
        in_doubt: Option<String>,
        /// Whether a part that one carrier rejects is offered to the next
        #[arg(long, value_name = "BOOL")]
        fail_over_refusals: Option<bool>,
    },
    /// Explain which route a message to a number takes
    #[command(after_help = "Examples:\n  hermod route explain +4915112345678\n  \
                            hermod route explain +4915112345678 --account shop --from Shop\n\nNothing is sent.")]
    Explain(explain::ExplainArgs),
    /// Remove a route; its numbers then take a less specific route, or none
    #[command(after_help = "Example:\n  hermod route remove 49")]
    Remove {
        /// Name of the route: `[ACCOUNT/]AREA[@SENDER]`
        route: String,
    },
}

const COLUMNS: [Column<Value>; 6] = [
    ("area", Left, super::price::destination),
    ("account", Left, |entry| text(&entry["account"])),
    ("sender", Left, |entry| text(&entry["sender"])),
    ("carriers", Left, |entry| {
        let carriers = entry["carriers"].as_array().map(Vec::as_slice).unwrap_or_default();
        carriers.iter().map(carrier_text).collect::<Vec<_>>().join(", ")
    }),
    ("in doubt", Left, |entry| text(&entry["in_doubt"])),
    ("fails over refusals", Left, |entry| text(&entry["fail_over_refusals"])),
];

/// Returns a carrier as `--carrier` takes it.
fn carrier_text(carrier: &Value) -> String {
    match carrier {
        Value::Object(_) => {
            format!("{}:{}:{}", text(&carrier["carrier"]), carrier["priority"], carrier["weight"])
        }
        other => text(other),
    }
}

impl RouteArgs {
    pub(crate) fn run(self) -> CommandResult {
        let RouteArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            RouteCommand::Show { route } => entries::show(client, Kind::Route, &route).await,
            RouteCommand::List { account } => entries::list(client, Kind::Route, account, &COLUMNS).await,
            RouteCommand::Set { route, carriers, in_doubt, fail_over_refusals } => {
                let mut fields = EntryFields::default()
                    .with("in_doubt", in_doubt)
                    .with("fail_over_refusals", fail_over_refusals);
                if !carriers.is_empty() {
                    let carriers =
                        carriers.iter().map(|text| parse_carrier(text)).collect::<Result<Vec<_>, _>>()?;
                    fields = fields.with_value("carriers", Value::from(carriers));
                }
                entries::set(client, Kind::Route, &route, fields).await
            }
            RouteCommand::Explain(explain) => explain.run(client).await,
            RouteCommand::Remove { route } => entries::remove(client, Kind::Route, &route).await,
        })
    }
}

/// Parses `NAME[:PRIORITY[:WEIGHT]]`.
fn parse_carrier(text: &str) -> Result<Value, Failure> {
    let wrong = || {
        let form = "NAME, NAME:PRIORITY or NAME:PRIORITY:WEIGHT, such as acme:1:70";
        Failure::usage(format!("--carrier {text}: write {form}"))
    };
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    match text.split(':').collect::<Vec<_>>().as_slice() {
        [name] => Ok(json!(name)),
        [name, priority] => Ok(json!({"carrier": name, "priority": number(priority)?})),
        [name, priority, weight] => {
            Ok(json!({"carrier": name, "priority": number(priority)?, "weight": number(weight)?}))
        }
        _ => Err(wrong()),
    }
}
