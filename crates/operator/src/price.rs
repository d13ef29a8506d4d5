//! Price entries: the price of a part by prefix, network, MCC or country, for all accounts, for one or for those of a price list,
//! from a day on.

use crate::entry::documents::{self, EntryNames};
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{names, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Cost, Price};
use hermod_domain::dated::{Dated, Versions};
use hermod_domain::ids::PriceListId;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Mcc, Network};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use utoipa::ToSchema;

/// The price of one part. Needs exactly one of `prefix`, `network`, `mcc` and `country`, and `per_part` or `closed = true`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Price)]
pub struct WantedPrice {
    #[serde(default, with = "values::prefix", skip_serializing_if = "Option::is_none")]
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
    /// In the currency of the sending account, which is also that of its price list. Required, unless `closed` replaces it.
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0.05"))]
    pub per_part: Option<Money>,
    /// Allows a price of 0. Without effect on other prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// Nothing may be sent there, although a broader area has a price. Replaces `per_part`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// For this account only.
    pub account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// For the accounts that name this price list. Not together with `account`.
    pub price_list: Option<String>,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// Valid from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub from: Option<Timestamp>,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// No longer valid from this day or time on. An earlier price without an end then applies again.
    #[schema(value_type = Option<String>, examples("2027-02-01"))]
    pub until: Option<Timestamp>,
}

impl FileEntry for WantedPrice {
    const KIND: Kind = Kind::Price;
    const ABOUT: &'static str =
        "The price of one part. A network precedes the longest prefix, which precedes the country.";
    const NAME_FORM: NameForm = NameForm {
        form: "`[ACCOUNT/]AREA[@FROM]`, of a price list `list:LIST/AREA[@FROM]`: `49`, `262-01`, `mcc262`, `DE`, \
               `shop/49@2027-01-01`, `list:standard/49`.",
        example: "shop/49@2027-01-01",
        expected: "expected 49, 262-01, mcc262, DE or *, with ACCOUNT/ before it for one account or list:LIST/ for a price list, \
                   and @DAY after it for its first day",
    };
    const IN_NAME: &'static [&'static str] =
        &["prefix", "network", "mcc", "country", "account", "price_list", "from"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = Price;

    fn name(&self) -> String {
        names::of_price(self.account.as_deref(), self.price_list.as_deref(), self.area(), self.from)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_price(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&Price>) -> ProvisionResult<Price> {
        let WantedPrice { prefix, network, mcc, country, per_part, free, closed, account, .. } = self;
        let WantedPrice { price_list, from, until, .. } = self;
        let what = format!("price \"{}\"", self.name());
        if self.area().is_none() {
            return Err(ProvisionRefusal::about(&what, names::ONE_AREA));
        }
        if account.is_some() && price_list.is_some() {
            return Err(ProvisionRefusal::about(&what, "is for an account or a price list, not for both"));
        }
        check_end(*from, *until, &what)?;
        let account = draft.find_account(account.as_deref(), &what)?;
        let price_list = draft.find_optional(Kind::PriceList, price_list.as_deref(), &what)?;
        let per_part = open_amount(per_part, *closed, &what)?;
        if per_part == Some(Money::ZERO) && !free {
            return Err(ProvisionRefusal::about(
                &what,
                "is 0: if messages are to cost nothing, say so with free = true",
            ));
        }
        Ok(Price {
            account,
            price_list: price_list.map(PriceListId::new),
            prefix: *prefix,
            network: *network,
            mcc: *mcc,
            country: *country,
            per_part,
            from: *from,
            until: *until,
        })
    }

    fn shown(_: &str, document: Price, names: &EntryNames) -> WantedPrice {
        let Price { account, price_list, prefix, network, mcc, country, per_part, from, until } = document;
        WantedPrice {
            prefix,
            network,
            mcc,
            country,
            per_part,
            free: per_part == Some(Money::ZERO),
            closed: per_part.is_none(),
            account: account.map(|account| names.of(Kind::Account, account.get())),
            price_list: price_list.map(|list| names.of(Kind::PriceList, list.get())),
            from,
            until,
        }
    }
}

/// Returns the amount of a price or cost; none if it closes its destination.
pub(crate) fn open_amount(
    per_part: &Option<Money>,
    closed: bool,
    what: &str,
) -> ProvisionResult<Option<Money>> {
    if closed { Ok(None) } else { required(per_part, what, "per_part").map(Some) }
}

/// Refuses an end that is not after the start.
pub(crate) fn check_end(
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    what: &str,
) -> ProvisionResult<()> {
    match (from, until) {
        (Some(from), Some(until)) if until <= from => {
            Err(ProvisionRefusal::about(what, "ends before it begins: until must be after from"))
        }
        _ => Ok(()),
    }
}

/// Returns a warning about each written price or cost that has begun and not ended and is not in force, because another one for the
/// same destinations began later.
pub(crate) fn warnings(draft: &Draft<'_>) -> Vec<String> {
    let of_price = |price: Price| {
        let Price { account, price_list, prefix, network, mcc, country, from, until, .. } = price;
        let area = Area::one_of(prefix, network, mcc, country)?;
        Some(((account, price_list, area), from, until))
    };
    let of_cost = |cost: Cost| {
        let Cost { carrier, prefix, network, mcc, country, sender_kind, from, until, .. } = cost;
        let area = Area::one_of(prefix, network, mcc, country)?;
        Some(((carrier, sender_kind, area), from, until))
    };
    [not_in_force(draft, Kind::Price, of_price), not_in_force(draft, Kind::Cost, of_cost)].concat()
}

/// The destinations of a price or cost, with its start and end.
type Period<K> = (K, Option<Timestamp>, Option<Timestamp>);

fn not_in_force<T: DeserializeOwned, K: Eq + Hash>(
    draft: &Draft<'_>,
    kind: Kind,
    period: impl Fn(T) -> Option<Period<K>>,
) -> Vec<String> {
    // Most changes write none: skip reading all.
    if draft.written_of(kind).next().is_none() {
        return Vec::new();
    }
    let mut versions: HashMap<K, Versions<&str>> = HashMap::new();
    for (name, row) in draft.rows_of(kind) {
        let Some((destinations, from, until)) = documents::read(row).ok().and_then(&period) else { continue };
        let dated = Dated { from: from.unwrap_or(Timestamp::EPOCH), until, value: name };
        // The catalogue refuses two with the same start.
        let _ = versions.entry(destinations).or_default().add(dated);
    }
    let written: HashSet<&str> = draft.written_of(kind).collect();
    let warnings =
        versions.values().filter_map(|versions| Some((versions, versions.in_force(draft.now)?.value)));
    let mut warnings: Vec<String> = warnings
        .flat_map(|(versions, latest)| {
            let begun = versions.iter().filter(|version| version.from <= draft.now);
            let going_on = begun.filter(|version| version.until.is_none_or(|until| draft.now < until));
            let hidden = going_on.map(|version| version.value).filter(move |name| *name != latest);
            hidden.filter(|name| written.contains(name)).map(move |name| {
                format!(
                    "{kind} \"{name}\" has no effect now: {kind} \"{latest}\" begins later and stays in force"
                )
            })
        })
        .collect();
    warnings.sort_unstable();
    warnings
}

/// Returns which of these prices, costs or exchange rates are in force at a time, such as `2027-01-01`: of those for the same
/// destinations the latest that has begun and not ended. Each is its name and its end as it is shown. Fails if the text is not a time.
pub fn in_force_at<'n>(
    entries: impl IntoIterator<Item = (&'n str, Option<&'n str>)>,
    at: &str,
) -> Result<HashSet<&'n str>, String> {
    let at = values::when_of(at).ok_or_else(|| format!("\"{at}\" is not {}", values::WHEN_FORM))?;
    let mut versions: HashMap<&str, Versions<&str>> = HashMap::new();
    for (name, until) in entries {
        let (to, from) = match name.split_once('@') {
            Some((to, from)) => (to, values::when_of(from)),
            None => (name, Some(Timestamp::EPOCH)),
        };
        let Some(from) = from else { continue };
        let dated = Dated { from, until: until.and_then(values::when_of), value: name };
        let _ = versions.entry(to).or_default().add(dated);
    }
    Ok(versions.values().filter_map(|versions| versions.in_force(at)).map(|dated| dated.value).collect())
}

impl WantedPrice {
    fn area(&self) -> Option<Area> {
        Area::one_of(self.prefix, self.network, self.mcc, self.country)
    }
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
