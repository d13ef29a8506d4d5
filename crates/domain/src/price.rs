//! What a message costs: the price of a part by destination, times its parts.
//!
//! An account may have a list of its own in front of the default one. Its list decides wherever it names the
//! destination at all, by however short a prefix: whoever was promised one price for the whole of a country is not
//! charged more because the default list has a dearer entry for one network in it. Everything else falls through
//! to the default list.

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

/// The dearest part: far above any real price, and low enough that no message's cost can overflow.
pub const PRICE_MAX: Money = Money::from_micros(1_000_000_000);

const _: () = assert!(PRICE_MAX.as_micros() < i64::MAX / 255);

/// A price and when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priced {
    pub what: Area,
    pub per_part: Money,
    /// [`Timestamp::EPOCH`] for what always was.
    pub from: Timestamp,
}

/// Prices of one destination, by when they begin. Each knows what it was given for, because a longer prefix takes over
/// what a shorter one has for the time before its own first price.
type Versions = SmallVec<[Priced; 1]>;

/// Prices per part.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    networks: HashMap<Network, Versions>,
    prefixes: PrefixTable<Versions>,
    mccs: HashMap<Mcc, Versions>,
    countries: HashMap<Country, Versions>,
    everywhere: Versions,
    /// Asked where this list has nothing to say.
    fallback: Option<Arc<PriceList>>,
}

/// Why prices do not make a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceRefusal {
    #[error("there are two prices for {what} from the same time on")]
    Duplicate { what: Area },
    #[error("the price {price} for {what} is not between 0 and {PRICE_MAX}")]
    OutOfRange { what: Area, price: Money },
}

/// What one message costs, and how that came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub per_part: Money,
    pub parts: u8,
    pub cost: Money,
}

/// The price that decides for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub price: &'a Priced,
    /// It stands in the account's own list, not in the one for everyone.
    pub is_own: bool,
}

/// What a price may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub to: Msisdn,
    pub network: Option<Network>,
    pub mcc: Option<Mcc>,
    pub country: Option<Country>,
    pub now: Timestamp,
}

impl PriceList {
    /// The default list.
    pub fn new(prices: impl IntoIterator<Item = Priced>) -> Result<PriceList, PriceRefusal> {
        let mut networks = HashMap::new();
        let mut mccs = HashMap::new();
        let mut countries = HashMap::new();
        let mut prefixes = HashMap::new();
        for priced in prices {
            if !(Money::ZERO..=PRICE_MAX).contains(&priced.per_part) {
                return Err(PriceRefusal::OutOfRange { what: priced.what, price: priced.per_part });
            }
            match priced.what {
                Area::Network(network) => add(&mut networks, network, priced)?,
                Area::Prefix(prefix) => add(&mut prefixes, prefix, priced)?,
                Area::Mcc(mcc) => add(&mut mccs, mcc, priced)?,
                Area::Country(country) => add(&mut countries, country, priced)?,
            }
        }
        let everywhere = prefixes.remove(&Prefix::ANY).unwrap_or_default();
        let prefixes = PrefixTable::build(with_shorter_before(prefixes)).expect("a map has each prefix once");
        Ok(PriceList { networks, prefixes, mccs, countries, everywhere, fallback: None })
    }

    /// An account's own list, with `fallback` for the destinations it does not name.
    #[must_use]
    pub fn over(self, fallback: Arc<PriceList>) -> PriceList {
        PriceList { fallback: Some(fallback), ..self }
    }

    /// `None` when there is no price for the destination, in which case nothing may be sent there.
    pub fn quote(&self, asked: Asked, parts: u8) -> Option<Quote> {
        let per_part = self.find(asked)?.price.per_part;
        let cost = per_part.times(parts).expect("255 parts at the dearest price fit");
        Some(Quote { per_part, parts, cost })
    }

    /// The price that decides, and whose list it stands in.
    pub fn find(&self, asked: Asked) -> Option<Found<'_>> {
        let Asked { to, network, mcc, country, now } = asked;
        let own = network
            .and_then(|network| in_force(self.networks.get(&network)?, now))
            .or_else(|| in_force(self.prefixes.find(to)?, now))
            .or_else(|| in_force(self.mccs.get(&mcc?)?, now))
            .or_else(|| in_force(self.countries.get(&country?)?, now))
            .or_else(|| in_force(&self.everywhere, now));
        match own {
            Some(price) => Some(Found { price, is_own: self.fallback.is_some() }),
            None => self.fallback.as_ref()?.find(asked),
        }
    }
}

fn add<K: Eq + Hash>(prices: &mut HashMap<K, Versions>, key: K, priced: Priced) -> Result<(), PriceRefusal> {
    let versions = prices.entry(key).or_default();
    match versions.binary_search_by_key(&priced.from, |version| version.from) {
        Ok(_) => Err(PriceRefusal::Duplicate { what: priced.what }),
        Err(place) => {
            versions.insert(place, priced);
            Ok(())
        }
    }
}

/// A look-up finds the longest prefix only, so each has what holds before its own first price from the next shorter one.
fn with_shorter_before(mut prices: HashMap<Prefix, Versions>) -> HashMap<Prefix, Versions> {
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

fn in_force(versions: &Versions, now: Timestamp) -> Option<&Priced> {
    let after = versions.partition_point(|version| version.from <= now);
    versions[..after].last()
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
