//! `hermod price`: what a part costs.

use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show;
use crate::show::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  hermod price list
  hermod price set '*' 0.05
  hermod price set 49 0.0375 --account shop --from 2027-01-01
  hermod price set US 0.01
  hermod price set 262-01 0.06
  hermod price remove 49 --account shop --from 2027-01-01

A price is for a country (US), a prefix (49, or * for every number), a mobile network (262-01) or a
mobile country code (mcc262), in the currency of the account that sends. The most specific decides:
network, longest prefix, mcc, country, *; an account's own go before everybody's, and the latest
that has begun before older ones. hermod lookup tells which price decides for a number.";

/// Prices of a part, by destination
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Price {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Examples:\n  hermod price list\n  hermod price list --account shop")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Make one, or change it
    #[command(
        after_help = "Examples:\n  hermod price set '*' 0.05\n  hermod price set 49 0.0375 --account shop --from 2027-01-01"
    )]
    Set {
        #[command(flatten)]
        which: Which,
        /// What one part costs, in the currency of the account that sends
        per_part: String,
    },
    /// Take one away
    #[command(after_help = "Example:\n  hermod price remove 49 --account shop")]
    Remove {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
struct Which {
    /// Country (US), prefix (49 or *), network (262-01) or mobile country code (mcc262)
    #[arg(value_name = "WHAT")]
    what: String,
    /// For this account only
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// From this day (UTC) or time on
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
}

impl Which {
    fn name(&self) -> String {
        let Which { what, account, from } = self;
        let account = account.as_ref().map(|account| format!("{account}/")).unwrap_or_default();
        let from = from.as_ref().map(|from| format!("@{from}")).unwrap_or_default();
        format!("{account}{what}{from}")
    }
}

const COLUMNS: [Column; 4] = [
    ("for", Left, destination),
    ("per part", Right, |entry| text(&entry["per_part"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("from", Left, |entry| text(&entry["from"])),
];

/// What a price or a route is for, as its name says it.
pub(super) fn destination(entry: &Value) -> String {
    match &entry["mcc"] {
        Value::String(mcc) => format!("mcc{mcc}"),
        _ => ["prefix", "network", "country"].map(|field| text(&entry[field])).concat(),
    }
}

impl Price {
    pub(crate) fn run(self) -> Ended {
        let Price { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { account } => {
                entries::list(desk, Kind::Price, account.as_deref(), &COLUMNS).await?;
                if desk.json {
                    return Ok(());
                }
                show::say("Per part, in the currency of the account that sends.\n")
            }
            What::Set { which, per_part } => {
                let fields = Fields::default().with("per_part", Some(per_part));
                entries::set(desk, Kind::Price, &which.name(), fields).await
            }
            What::Remove { which } => entries::remove(desk, Kind::Price, &which.name()).await,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_known_by_what_it_is_for() {
        let name = |what: &str, account: Option<&str>, from: Option<&str>| {
            Which {
                what: what.to_owned(),
                account: account.map(str::to_owned),
                from: from.map(str::to_owned),
            }
            .name()
        };
        assert_eq!(name("49", None, None), "49");
        assert_eq!(name("262-01", Some("shop"), None), "shop/262-01");
        assert_eq!(name("mcc262", Some("shop"), Some("2027-01-01")), "shop/mcc262@2027-01-01");
    }
}
