//! The cost of a message: the price per part for its destination, times its parts.
//!
//! An account's own list takes precedence over the default list for every destination that it covers, even by a shorter
//! prefix: a customer with one price for a whole country does not pay more because the default list has a higher one
//! for a network in it. All other destinations use the default list.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::area::Area;
use crate::money::Money;
use crate::numbers::{Country, Mcc, Network};
use crate::phone::Msisdn;
use crate::prefix::{Prefix, PrefixTable};
use crate::time::Timestamp;

/// The highest price per part: far above any real one, and low enough that no message's cost overflows.
pub const PRICE_MAX: Money = Money::from_micros(1_000_000_000);

const _: () = assert!(PRICE_MAX.as_micros() < i64::MAX / 255);

/// A price for an area, valid from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceEntry {
    pub area: Area,
    pub per_part: Money,
    /// [`Timestamp::EPOCH`] if it was always valid.
    pub from: Timestamp,
}

/// The prices of one area, by start. Each holds its own area, because a longer prefix uses the prices of a shorter one
/// for the time before its own first price.
type Versions = SmallVec<[PriceEntry; 1]>;

/// A list of prices per part.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    networks: HashMap<Network, Versions>,
    prefixes: PrefixTable<Versions>,
    mccs: HashMap<Mcc, Versions>,
    countries: HashMap<Country, Versions>,
    everywhere: Versions,
    /// Used for destinations that this list does not cover.
    fallback: Option<Arc<PriceList>>,
}

/// Why a price list is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceRefusal {
    #[error("there are two prices for {area} from the same time on")]
    Duplicate { area: Area },
    #[error("the price {price} for {area} is not between 0 and {PRICE_MAX}")]
    OutOfRange { area: Area, price: Money },
}

/// The cost of one message and how it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub per_part: Money,
    pub parts: u8,
    pub cost: Money,
}

/// The price that applies to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPrice<'a> {
    pub price: &'a PriceEntry,
    /// Whether it is in the account's own list, not in the default one.
    pub is_own: bool,
}

/// The properties of a message by which its price is found.
#[derive(Clone, Copy, Debug)]
pub struct PriceQuery {
    pub to: Msisdn,
    pub network: Option<Network>,
    pub mcc: Option<Mcc>,
    pub country: Option<Country>,
    pub now: Timestamp,
}

impl PriceList {
    /// Builds the default list.
    pub fn new(prices: impl IntoIterator<Item = PriceEntry>) -> Result<PriceList, PriceRefusal> {
        let mut networks = HashMap::new();
        let mut mccs = HashMap::new();
        let mut countries = HashMap::new();
        let mut prefixes = HashMap::new();
        for entry in prices {
            if !(Money::ZERO..=PRICE_MAX).contains(&entry.per_part) {
                return Err(PriceRefusal::OutOfRange { area: entry.area, price: entry.per_part });
            }
            match entry.area {
                Area::Network(network) => add(&mut networks, network, entry)?,
                Area::Prefix(prefix) => add(&mut prefixes, prefix, entry)?,
                Area::Mcc(mcc) => add(&mut mccs, mcc, entry)?,
                Area::Country(country) => add(&mut countries, country, entry)?,
            }
        }
        let everywhere = prefixes.remove(&Prefix::ANY).unwrap_or_default();
        let prefixes =
            PrefixTable::build(with_earlier_prices_of_shorter(prefixes)).expect("a map has each prefix once");
        Ok(PriceList { networks, prefixes, mccs, countries, everywhere, fallback: None })
    }

    /// Makes this an account's own list, with `fallback` for other destinations.
    #[must_use]
    pub fn over(self, fallback: Arc<PriceList>) -> PriceList {
        PriceList { fallback: Some(fallback), ..self }
    }

    /// Returns the cost of a message; `None` without a price for the destination, to which nothing may be sent then.
    pub fn quote(&self, query: PriceQuery, parts: u8) -> Option<Quote> {
        let per_part = self.find(query)?.price.per_part;
        let cost = per_part.times(parts).expect("255 parts at the highest price fit");
        Some(Quote { per_part, parts, cost })
    }

    /// Returns every price of this list and of the one behind it, in no order.
    pub fn entries(&self) -> impl Iterator<Item = &PriceEntry> {
        let prefixes = self.prefixes.entries().iter().flat_map(|(prefix, versions)| {
            // A longer prefix also holds the earlier prices of a shorter one.
            versions.iter().filter(|entry| entry.area == Area::Prefix(*prefix))
        });
        let by_code = self.networks.values().chain(self.mccs.values()).chain(self.countries.values());
        let own = by_code.flatten().chain(prefixes).chain(&self.everywhere);
        let fallback = self.fallback.iter().flat_map(|list| list.entries().collect::<Vec<_>>());
        own.chain(fallback)
    }

    /// Returns the price that applies, and which list it is in.
    pub fn find(&self, query: PriceQuery) -> Option<FoundPrice<'_>> {
        let PriceQuery { to, network, mcc, country, now } = query;
        let own = network
            .and_then(|network| in_force(self.networks.get(&network)?, now))
            .or_else(|| in_force(self.prefixes.find(to)?, now))
            .or_else(|| in_force(self.mccs.get(&mcc?)?, now))
            .or_else(|| in_force(self.countries.get(&country?)?, now))
            .or_else(|| in_force(&self.everywhere, now));
        match own {
            Some(price) => Some(FoundPrice { price, is_own: self.fallback.is_some() }),
            None => self.fallback.as_ref()?.find(query),
        }
    }
}

fn add<K: Eq + Hash>(
    prices: &mut HashMap<K, Versions>,
    key: K,
    entry: PriceEntry,
) -> Result<(), PriceRefusal> {
    let versions = prices.entry(key).or_default();
    match versions.binary_search_by_key(&entry.from, |version| version.from) {
        Ok(_) => Err(PriceRefusal::Duplicate { area: entry.area }),
        Err(index) => {
            versions.insert(index, entry);
            Ok(())
        }
    }
}

/// A look-up finds the longest prefix only, so each prefix also gets the prices of the next shorter one that apply
/// before its own first price.
fn with_earlier_prices_of_shorter(mut prices: HashMap<Prefix, Versions>) -> HashMap<Prefix, Versions> {
    let mut shortest_first: Vec<Prefix> = prices.keys().copied().collect();
    shortest_first.sort_unstable_by_key(|prefix| prefix.len());
    for prefix in shortest_first {
        let Some(first) = prices.get(&prefix).and_then(|versions| versions.first().copied()) else {
            continue;
        };
        let mut shorter = std::iter::successors(prefix.shorter(), |shorter| shorter.shorter());
        let Some(parent) = shorter.find_map(|shorter| prices.get(&shorter)) else { continue };
        let before: Versions = parent.iter().copied().filter(|version| version.from < first.from).collect();
        prices.entry(prefix).or_default().insert_many(0, before);
    }
    prices
}

fn in_force(versions: &Versions, now: Timestamp) -> Option<&PriceEntry> {
    let after = versions.partition_point(|version| version.from <= now);
    versions[..after].last()
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
