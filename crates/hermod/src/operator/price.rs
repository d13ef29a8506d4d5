//! `hermod price`: prices of a part, by destination.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output;
use crate::output::Align::{Left, Right};
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
mobile country code (mcc262), in the currency of the sending account. The most specific price
applies: network, longest prefix, mcc, country, *. Prices of an account precede general ones, and of
several with a start date the latest that has begun applies. hermod lookup shows the price of a
number.";

/// Manage prices of a part, by destination
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct PriceArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: PriceCommand,
}

#[derive(Subcommand)]
enum PriceCommand {
    /// List prices
    #[command(after_help = "Examples:\n  hermod price list\n  hermod price list --account shop")]
    List {
        /// Only entries of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Create or change a price
    #[command(
        after_help = "Examples:\n  hermod price set '*' 0.05\n  hermod price set 49 0.0375 --account shop --from 2027-01-01"
    )]
    Set {
        #[command(flatten)]
        which: Which,
        /// Price of one part, in the currency of the sending account
        per_part: String,
    },
    /// Remove a price
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
    /// Only for this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// UTC day or time from which the price applies
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

const COLUMNS: [Column<Value>; 4] = [
    ("for", Left, destination),
    ("per part", Right, |entry| text(&entry["per_part"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("from", Left, |entry| text(&entry["from"])),
];

/// Returns the area of a price or route, as in its name.
pub(super) fn destination(entry: &Value) -> String {
    match &entry["mcc"] {
        Value::String(mcc) => format!("mcc{mcc}"),
        _ => ["prefix", "network", "country"].map(|field| text(&entry[field])).concat(),
    }
}

impl PriceArgs {
    pub(crate) fn run(self) -> CommandResult {
        let PriceArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            PriceCommand::List { account } => {
                entries::list(client, Kind::Price, account, &COLUMNS).await?;
                if client.json {
                    return Ok(());
                }
                output::print("\nPer part, in the currency of the sending account.\n")
            }
            PriceCommand::Set { which, per_part } => {
                let fields = EntryFields::default().with("per_part", Some(per_part));
                entries::set(client, Kind::Price, &which.name(), fields).await
            }
            PriceCommand::Remove { which } => entries::remove(client, Kind::Price, &which.name()).await,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_price_has_its_account_area_and_start() {
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
