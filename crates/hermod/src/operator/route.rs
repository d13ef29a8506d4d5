//! `hermod route`: which carriers serve a destination, and why.

use super::entries::{self, Column, text};
use super::explain;
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::{Ended, Failure};
use crate::show::Align::Left;
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

A route is known as [ACCOUNT/]AREA[@SENDER]. AREA is where to: the first digits of the numbers
without a plus (49), a country (DE), a network (262-01), an MCC (mcc262), or * for every number. Who
sends goes before where to: an account's route for one sender, the account's, the sender's,
everyone's; of those, the network, the longest prefix, the country, then *.";

const SET_EXAMPLES: &str = "\
Examples:
  hermod route set 49 --carrier acme --carrier backup
  hermod route set 262-01 --carrier acme:1:70 --carrier beta:1:30 --carrier backup:2
  hermod route set shop/mcc262@Shop --carrier beta --fail-over-refusals true
  hermod route set 49 --in-doubt never-resend

--carrier is NAME, NAME:PRIORITY or NAME:PRIORITY:WEIGHT. Without priorities the first is
preferred and the next ones stand in for it. Of those with the same priority each gets its weight's
share of the recipients, and a recipient keeps its carrier while that one is well.";

/// Routes: which carriers serve a destination
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Route {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Examples:\n  hermod route list\n  hermod route list --account shop")]
    List {
        /// Only this account's own
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show one with every field
    #[command(after_help = "Example:\n  hermod route show shop/49@Shop")]
    Show { route: String },
    /// Make one, or change it
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// AREA, with ACCOUNT/ before it and @SENDER behind it if it is for those alone
        route: String,
        /// A carrier and its place; may be given several times
        #[arg(long = "carrier", value_name = "NAME[:PRIORITY[:WEIGHT]]")]
        carriers: Vec<String>,
        /// A part that may have left and whose answer never came; an empty text: as the carrier says
        #[arg(long, value_name = "POLICY", value_parser = ["resend", "resend-once", "never-resend", ""])]
        in_doubt: Option<String>,
        /// Whether what one carrier refuses is offered to the next
        #[arg(long, value_name = "BOOL")]
        fail_over_refusals: Option<bool>,
    },
    /// Tell why a message to a number goes where it goes
    #[command(after_help = "Examples:\n  hermod route explain +4915112345678\n  \
                            hermod route explain +4915112345678 --account shop --from Shop\n\nNothing is sent.")]
    Explain(explain::Explain),
    /// Take one away; numbers it was for then go by a less exact one, or nowhere
    #[command(after_help = "Example:\n  hermod route remove 49")]
    Remove {
        /// AREA, with ACCOUNT/ before it and @SENDER behind it if it is for those alone
        route: String,
    },
}

const COLUMNS: [Column; 6] = [
    ("area", Left, super::price::destination),
    ("account", Left, |entry| text(&entry["account"])),
    ("sender", Left, |entry| text(&entry["sender"])),
    ("carriers", Left, |entry| {
        let carriers = entry["carriers"].as_array().map(Vec::as_slice).unwrap_or_default();
        carriers.iter().map(placed).collect::<Vec<_>>().join(", ")
    }),
    ("in doubt", Left, |entry| text(&entry["in_doubt"])),
    ("fails over refusals", Left, |entry| text(&entry["fail_over_refusals"])),
];

/// As `--carrier` takes it.
fn placed(carrier: &Value) -> String {
    match carrier {
        Value::Object(_) => {
            format!("{}:{}:{}", text(&carrier["carrier"]), carrier["priority"], carrier["weight"])
        }
        other => text(other),
    }
}

impl Route {
    pub(crate) fn run(self) -> Ended {
        let Route { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::Show { route } => entries::show(desk, Kind::Route, &route).await,
            What::List { account } => entries::list(desk, Kind::Route, account.as_deref(), &COLUMNS).await,
            What::Set { route, carriers, in_doubt, fail_over_refusals } => {
                let mut fields = Fields::default()
                    .with("in_doubt", in_doubt)
                    .with("fail_over_refusals", fail_over_refusals);
                if !carriers.is_empty() {
                    let placed = carriers.iter().map(|text| place_of(text)).collect::<Result<Vec<_>, _>>()?;
                    fields = fields.with_value("carriers", Value::from(placed));
                }
                entries::set(desk, Kind::Route, &route, fields).await
            }
            What::Explain(asked) => asked.run(desk).await,
            What::Remove { route } => entries::remove(desk, Kind::Route, &route).await,
        })
    }
}

/// `NAME[:PRIORITY[:WEIGHT]]`.
fn place_of(text: &str) -> Result<Value, Failure> {
    let wrong = || {
        let form = "NAME, NAME:PRIORITY or NAME:PRIORITY:WEIGHT, such as acme:1:70";
        Failure::mend(format!("--carrier {text}: a carrier of a route is written {form}"))
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
