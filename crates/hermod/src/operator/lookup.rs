//! `hermod lookup`: where a message to a number would go, and what it would cost.

use super::explain::Explained;
use super::place::{Absent, Place};
use crate::client::{Amount, escape};
use crate::ending::Ended;
use crate::show;
use clap::Args;
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod lookup +4915112345678
  hermod lookup +4915112345678 --account shop --from Shop

Nothing is sent. With an account it also says what a part costs it and whether it may send there.";

/// Ask where a message to a number would go, and what it would cost
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lookup {
    /// + and the number with its country code
    number: String,
    /// For this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// From this sender
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Found {
    number: String,
    country: String,
    country_code: String,
    operator: String,
    mcc: String,
    mnc: String,
    per_part: Option<Amount>,
    country_enabled: Option<bool>,
    #[serde(flatten)]
    explained: Explained,
}

impl Lookup {
    pub(crate) fn run(self) -> Ended {
        let Lookup { number, account, from, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            let asked = [("account", account), ("from", from)];
            let asked =
                asked.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", escape(&value?))));
            let asked = asked.collect::<Vec<_>>().join("&");
            let answer = desk.get(&format!("/lookup/{}?{asked}", escape(&number))).await?;
            desk.tell(&answer, told)
        })
    }
}

fn told(found: Found) -> String {
    let Found { number, country, country_code, operator, mcc, mnc, per_part, country_enabled, explained } =
        found;
    // Without an account there is nobody to have a price.
    let price = match (per_part, country_enabled) {
        (Some(price), _) => price.to_string(),
        (None, Some(_)) => "none".to_owned(),
        (None, None) => String::new(),
    };
    let enabled = match country_enabled {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    let fields = show::fields(&[
        ("number", number),
        (
            "country",
            if country.is_empty() { "unknown".to_owned() } else { format!("{country} ({country_code})") },
        ),
        ("operator", operator),
        ("network", if mnc.is_empty() { mcc } else { format!("{mcc}-{mnc}") }),
        ("per part", price),
        ("country enabled", enabled.to_owned()),
    ]);
    format!("{fields}\n{}", explained.text())
}
