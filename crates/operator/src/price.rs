//! Price entries: the price of a part by prefix, network, MCC or country, for all accounts or one, from a day on.

use crate::entry::documents::{self, EntryNames};
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{names, values};
use crate::kind::Kind;
use crate::refusal::ProvisionRefusal;
use hermod_domain::area::Area;
use hermod_domain::catalogue::Price;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Mcc, Network};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// The price of one part, in the currency of the sending account. Needs exactly one of `prefix`, `network`, `mcc` and
/// `country`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Price)]
pub struct WantedPrice {
    #[serde(
        default,
        deserialize_with = "values::prefix",
        serialize_with = "values::prefix_text",
        skip_serializing_if = "Option::is_none"
    )]
    /// The first digits of the number; `*` is every number.
    #[schema(value_type = Option<String>, pattern = r"^(\*|[0-9]{1,15})$", examples("49"))]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// One mobile network, by its MCC and MNC.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}-[0-9]{2,3}$")]
    pub network: Option<Network>,
    #[serde(default, deserialize_with = "values::some_mcc", skip_serializing_if = "Option::is_none")]
    /// The networks of a mobile country code. The number data lacks many; prefer `country`.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}$")]
    pub mcc: Option<Mcc>,
    #[serde(default, deserialize_with = "values::some_country", skip_serializing_if = "Option::is_none")]
    /// Every number of a country, by its two-letter code.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$", examples("DE"))]
    pub country: Option<Country>,
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "Option::is_none")]
    /// In the currency of the sending account.
    #[schema(required, value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0.05"))]
    pub per_part: Option<Money>,
    /// Allows a price of 0. Without effect on other prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// For this account only.
    pub account: Option<String>,
    #[serde(
        default,
        deserialize_with = "values::when",
        serialize_with = "values::when_text",
        skip_serializing_if = "Option::is_none"
    )]
    /// Valid from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub from: Option<Timestamp>,
}

impl FileEntry for WantedPrice {
    const KIND: Kind = Kind::Price;
    const ABOUT: &'static str =
        "The price of one part. A network precedes the longest prefix, which precedes the country.";
    const NAME_FORM: NameForm = NameForm {
        form: "`[ACCOUNT/]AREA[@FROM]`: `49`, `262-01`, `mcc262`, `DE`, `shop/49@2027-01-01`.",
        example: "shop/49@2027-01-01",
        expected: "expected 49, 262-01, mcc262, DE or *, with ACCOUNT/ before it for one account, and @DAY after it for its \
                   first day",
    };
    const IN_NAME: &'static [&'static str] = &["prefix", "network", "mcc", "country", "account", "from"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = Price;

    fn name(&self) -> String {
        names::of_price(self.account.as_deref(), self.area(), self.from)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_price(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&Price>) -> Result<Price, ProvisionRefusal> {
        let WantedPrice { prefix, network, mcc, country, per_part, free, account, from } = self;
        let what = format!("price \"{}\"", self.name());
        if self.area().is_none() {
            return Err(ProvisionRefusal::about(&what, names::ONE_AREA));
        }
        let account = draft.find_account(account.as_deref(), &what)?;
        let per_part = required(per_part, &what, "per_part")?;
        if per_part == Money::ZERO && !free {
            return Err(ProvisionRefusal::about(
                &what,
                "is 0: if messages are to cost nothing, say so with free = true",
            ));
        }
        Ok(Price {
            account,
            prefix: *prefix,
            network: *network,
            mcc: *mcc,
            country: *country,
            per_part,
            from: *from,
        })
    }

    fn shown(_: &str, document: Price, names: &EntryNames) -> WantedPrice {
        let Price { account, prefix, network, mcc, country, per_part, from } = document;
        let account = account.map(|account| names.of(Kind::Account, account.get()));
        let free = per_part == Money::ZERO;
        WantedPrice { prefix, network, mcc, country, per_part: Some(per_part), free, account, from }
    }
}

/// Returns a warning about each written price that has begun and is not in force, because another price for the same destinations
/// began later.
pub(crate) fn warnings(draft: &Draft<'_>) -> Vec<String> {
    // Most changes write none: skip reading all prices.
    if draft.written_of(Kind::Price).next().is_none() {
        return Vec::new();
    }
    // A price without a start was always valid.
    let start = |price: &Price| price.from.unwrap_or(Timestamp::EPOCH);
    let destinations = |Price { account, prefix, network, mcc, country, .. }: &Price| {
        Some((*account, Area::one_of(*prefix, *network, *mcc, *country)?))
    };
    let mut begun = HashMap::new();
    let mut in_force = HashMap::new();
    for (name, row) in draft.rows_of(Kind::Price) {
        let Ok(price) = documents::read::<Price>(row) else { continue };
        let Some(to) = destinations(&price).filter(|_| start(&price) <= draft.now) else { continue };
        begun.insert(name, to);
        let latest = in_force.entry(to).or_insert((start(&price), name));
        if start(&price) > latest.0 {
            *latest = (start(&price), name);
        }
    }
    let warning = |name: &str| {
        let (_, latest) = in_force.get(begun.get(name)?)?;
        (*latest != name).then(|| {
            format!("price \"{name}\" has no effect now: price \"{latest}\" begins later and stays in force")
        })
    };
    draft.written_of(Kind::Price).filter_map(warning).collect()
}

/// Returns which of the prices with these names are in force at a time, such as `2027-01-01`: of those for the same account and
/// destinations the latest that has begun. Fails if the text is not a time.
pub fn in_force_at<'n>(
    names: impl IntoIterator<Item = &'n str>,
    at: &str,
) -> Result<HashSet<&'n str>, String> {
    let at = values::when_of(at).ok_or_else(|| format!("\"{at}\" is not {}", values::WHEN_FORM))?;
    let mut in_force: HashMap<&str, (Timestamp, &str)> = HashMap::new();
    for name in names {
        let (to, from) = match name.split_once('@') {
            Some((to, from)) => (to, values::when_of(from)),
            None => (name, Some(Timestamp::EPOCH)),
        };
        let Some(from) = from.filter(|from| *from <= at) else { continue };
        let latest = in_force.entry(to).or_insert((from, name));
        if from > latest.0 {
            *latest = (from, name);
        }
    }
    Ok(in_force.into_values().map(|(_, name)| name).collect())
}

impl WantedPrice {
    fn area(&self) -> Option<Area> {
        Area::one_of(self.prefix, self.network, self.mcc, self.country)
    }
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
