//! The destinations of an account: countries, networks, prices; and switching a country on or off.

use crate::author::Acting;
use crate::entry::views::{Fields, SaveQuery};
use crate::find::find_account;
use crate::input::invalid;
use crate::kind::Kind;
use crate::lookup::explain::unmentioned_sender;
use crate::refusal::{OperatorRefusal, Result};
use crate::setup::use_cases::change_entry;
use crate::views::amount::Amount;
use hermod_domain::area::Area;
use hermod_domain::catalogue::{AccountView, Catalogue};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::route::RouteQuery;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All countries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationsView {
    pub currency: String,
    /// By name.
    pub items: Vec<DestinationView>,
}

/// A country.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationView {
    pub country: String,
    /// The two-letter code.
    pub code: String,
    /// Whether the operator lets the account send there.
    pub permitted: bool,
    /// Whether the customer switched it off.
    pub switched_off: bool,
    /// Its networks by operator. One without a name stands for numbers whose network is unknown.
    pub networks: Vec<NetworkPriceView>,
}

impl DestinationView {
    /// Returns the lowest and the highest price of a part now; `None` if no network has one.
    pub fn price_range(&self) -> Option<(Amount, Amount)> {
        range(self.networks.iter().filter_map(|network| network.per_part))
    }

    /// Returns the next change of a price: when, and the range from then on.
    pub fn next_range(&self) -> Option<(&str, Option<(Amount, Amount)>)> {
        let changes = self.networks.iter().filter_map(|network| network.next.as_ref());
        let first = changes.map(|next| next.from.as_str()).min()?;
        let then = self.networks.iter().filter_map(|network| match &network.next {
            Some(next) if next.from == first => next.per_part,
            _ => network.per_part,
        });
        Some((first, range(then)))
    }
}

fn range(prices: impl Iterator<Item = Amount>) -> Option<(Amount, Amount)> {
    let micros: Vec<i64> = prices.map(|price| price.0.as_micros()).collect();
    let of = |micros: i64| Amount(hermod_domain::money::Money::from_micros(micros));
    Some((of(*micros.iter().min()?), of(*micros.iter().max()?)))
}

/// The price and the coverage of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPriceView {
    /// Empty if unknown.
    pub operator: String,
    pub mcc: String,
    pub mnc: String,
    /// The price of a part now.
    pub per_part: Option<Amount>,
    pub next: Option<NextPriceView>,
    pub has_route: bool,
}

/// A price that begins later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextPriceView {
    /// `None`: no price from then on.
    pub per_part: Option<Amount>,
    pub from: String,
}

/// Changes of prices that are looked at: price lists are sent out a few at a time.
const CHANGES_MAX: usize = 8;

/// Lists all countries with their prices and coverage for an account.
pub fn list_destinations(gateway: &Gateway, account: &str) -> Result<DestinationsView> {
    let id = find_account(gateway, account)?;
    let catalogue = gateway.catalogue();
    let view = catalogue.account(id).ok_or_else(|| OperatorRefusal::no_such("account", account))?;
    let look_up = LookUp::new(&catalogue, view, id, gateway.clock.now());
    let mut countries: BTreeMap<&'static str, (Country, Vec<NetworkPriceView>)> = BTreeMap::new();
    for (destination, number) in examples(&catalogue, view) {
        let Some(country) = destination.country else { continue };
        let row = look_up.row(&destination, number);
        let (_, rows) = countries.entry(country.name()).or_insert((country, Vec::new()));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let items = countries.into_iter().map(|(name, (country, networks))| DestinationView {
        country: name.to_owned(),
        code: country.to_string(),
        permitted: view.account.countries.allow(country),
        switched_off: view.account.countries_off.contains(&country),
        networks,
    });
    Ok(DestinationsView { currency: view.account.currency.to_string(), items: items.collect() })
}

/// Returns a number of every network, and of every prefix that a price or a route names.
fn examples(catalogue: &Catalogue, view: &AccountView) -> Vec<(Destination<'static>, Msisdn)> {
    let priced = view.prices().entries().map(|(area, _)| area);
    let routed = catalogue.routes().entries().iter().map(|(scope, _)| scope.area);
    let prefixes: BTreeSet<u64> = priced
        .chain(routed)
        .filter_map(|area| match area {
            Area::Prefix(prefix) => Numbers::example_of(prefix),
            Area::Network(_) | Area::Mcc(_) | Area::Country(_) => None,
        })
        .map(Msisdn::number)
        .collect();
    let of_prefixes = prefixes.into_iter().filter_map(Msisdn::from_number);
    let of_prefixes = of_prefixes.map(|number| (Numbers::embedded().find(number), number));
    Numbers::examples().iter().copied().chain(of_prefixes).collect()
}

struct LookUp<'a> {
    catalogue: &'a Catalogue,
    view: &'a AccountView,
    account: AccountId,
    from: Sender,
    now: Timestamp,
    /// When prices change after now, the next first.
    changes: Vec<Timestamp>,
}

impl LookUp<'_> {
    fn new<'a>(
        catalogue: &'a Catalogue,
        view: &'a AccountView,
        account: AccountId,
        now: Timestamp,
    ) -> LookUp<'a> {
        let changes = view.prices().entries().flat_map(|(_, price)| [Some(price.from), price.until]);
        let changes: BTreeSet<Timestamp> = changes.flatten().filter(|at| *at > now).collect();
        LookUp {
            catalogue,
            view,
            account,
            from: unmentioned_sender(catalogue),
            now,
            changes: changes.into_iter().take(CHANGES_MAX).collect(),
        }
    }

    fn row(&self, destination: &Destination<'static>, to: Msisdn) -> NetworkPriceView {
        let now = self.price(destination, to, self.now);
        let next = self.changes.iter().find_map(|at| {
            let then = self.price(destination, to, *at);
            (then != now).then(|| NextPriceView { per_part: then.map(Amount), from: at.to_iso() })
        });
        let query = RouteQuery { account: self.account, from: &self.from, to, destination: *destination };
        NetworkPriceView {
            operator: destination.operator.to_owned(),
            mcc: destination.network.map(|network| network.mcc.to_string()).unwrap_or_default(),
            mnc: destination.network.map(|network| network.mnc.to_string()).unwrap_or_default(),
            per_part: now.map(Amount),
            next,
            has_route: self.catalogue.routes().serving(&query).is_some(),
        }
    }

    fn price(&self, destination: &Destination<'static>, to: Msisdn, now: Timestamp) -> Option<Money> {
        self.view.prices().find(to, destination, now)?.price.value
    }
}

/// Switches a country of an account on or off, as the customer decides among those that the operator permits.
pub async fn switch_country(gateway: &Acting, account: &str, country: &str, is_on: bool) -> Result<()> {
    let country = Country::parse(country).map_err(|refusal| invalid("country", refusal))?;
    let id = find_account(gateway, account)?;
    let catalogue = gateway.catalogue();
    let permitted = catalogue.account(id).is_some_and(|view| view.account.countries.allow(country));
    if is_on && !permitted {
        return Err(invalid("country", format!("{} needs the operator's permission", country.name())));
    }
    let patch_of = |entry: &Fields| {
        let off = entry.get("countries_off").and_then(Value::as_array).into_iter().flatten();
        let mut off: BTreeSet<String> = off.filter_map(Value::as_str).map(str::to_owned).collect();
        match is_on {
            true => off.remove(country.as_str()),
            false => off.insert(country.to_string()),
        };
        Ok(Fields::from_iter([("countries_off".to_owned(), Value::from_iter(off))]))
    };
    change_entry(gateway, Kind::Account, account, &SaveQuery::default(), patch_of).await?;
    Ok(())
}
