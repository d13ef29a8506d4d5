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

Nothing is sent. With an account it also says what a part costs it, which price decides that, and
everything that would refuse a message now.";

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
    currency: Option<String>,
    price: Option<String>,
    #[serde(default)]
    refusals: Vec<String>,
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
    let Found {
        number,
        country,
        country_code,
        operator,
        mcc,
        mnc,
        per_part,
        currency,
        price,
        refusals,
        country_enabled,
        explained,
    } = found;
    // Without an account there is nobody to have a price.
    let price = match (per_part, currency) {
        (Some(per_part), Some(currency)) => {
            format!("{per_part} {currency} (price {})", show::safe(&price.unwrap_or_default()))
        }
        (None, Some(_)) => "none".to_owned(),
        (_, None) => String::new(),
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
    let refused: String = refusals.iter().map(|reason| format!("  {}\n", show::safe(reason))).collect();
    let verdict = match (country_enabled, refused.is_empty()) {
        (None, _) => String::new(),
        (Some(_), true) => "Nothing would refuse a message of this account now.\n\n".to_owned(),
        (Some(_), false) => format!("A message of this account would be refused now:\n{refused}\n"),
    };
    format!("{fields}\n{verdict}{}", explained.text())
}
