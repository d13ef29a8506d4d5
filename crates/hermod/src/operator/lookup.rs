//! `hermod lookup`: where a message to a number would go, and what it would cost.

use super::place::{Absent, Place};
use crate::client::{Amount, escape};
use crate::ending::Ended;
use crate::show;
use clap::Args;
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod lookup +4915112345678
  hermod lookup +4915112345678 --account shop

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
    route: Option<Route>,
    per_part: Option<Amount>,
    country_enabled: Option<bool>,
}

#[derive(Deserialize)]
struct Route {
    area: String,
    carriers: Vec<String>,
}

impl Lookup {
    pub(crate) fn run(self) -> Ended {
        let Lookup { number, account, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            let account = account.map(|account| format!("?account={}", escape(&account))).unwrap_or_default();
            let answer = desk.get(&format!("/lookup/{}{account}", escape(&number))).await?;
            desk.tell(&answer, told)
        })
    }
}

fn told(found: Found) -> String {
    let Found { number, country, country_code, operator, mcc, mnc, route, per_part, country_enabled } = found;
    let route = match route {
        Some(Route { area, carriers }) => format!("{area}: {}", carriers.join(", ")),
        None => "none".to_owned(),
    };
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
    show::fields(&[
        ("number", number),
        (
            "country",
            if country.is_empty() { "unknown".to_owned() } else { format!("{country} ({country_code})") },
        ),
        ("operator", operator),
        ("network", if mnc.is_empty() { mcc } else { format!("{mcc}-{mnc}") }),
        ("route", route),
        ("per part", price),
        ("country enabled", enabled.to_owned()),
    ])
}
