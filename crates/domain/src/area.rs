//! Areas of destinations for prices and routes: a network, a prefix, an MCC or a country. The most specific area
//! applies: the network, then the longest prefix, then the MCC, then the country, then everywhere.

use crate::numbers::{Country, Destination, Mcc, Network};
use crate::phone::Msisdn;
use crate::prefix::{Prefix, PrefixTable};
use std::collections::HashMap;
use std::{fmt, iter};

/// The destinations that a price or a route covers. Everywhere is the empty prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    Network(Network),
    Prefix(Prefix),
    /// All networks of a mobile country code.
    Mcc(Mcc),
    /// All numbers of a country, also those whose network is unknown.
    Country(Country),
}

impl Area {
    /// Returns the area of the one that is set; `None` if none or several are.
    pub fn one_of(
        prefix: Option<Prefix>,
        network: Option<Network>,
        mcc: Option<Mcc>,
        country: Option<Country>,
    ) -> Option<Area> {
        match (prefix, network, mcc, country) {
            (Some(prefix), None, None, None) => Some(Area::Prefix(prefix)),
            (None, Some(network), None, None) => Some(Area::Network(network)),
            (None, None, Some(mcc), None) => Some(Area::Mcc(mcc)),
            (None, None, None, Some(country)) => Some(Area::Country(country)),
            _ => None,
        }
    }

    /// Whether the area covers this number.
    pub fn covers(self, to: Msisdn, destination: &Destination<'_>) -> bool {
        match self {
            Area::Network(network) => destination.network == Some(network),
            Area::Prefix(prefix) => prefix.begins(to),
            Area::Mcc(mcc) => destination.mcc() == Some(mcc),
            Area::Country(country) => destination.country == Some(country),
        }
    }

    pub const fn is_everywhere(self) -> bool {
        matches!(self, Area::Prefix(prefix) if prefix.is_empty())
    }

    /// Returns the precedence: of the areas that cover a number, the highest applies.
    pub const fn rank(self) -> u8 {
        match self {
            Area::Network(_) => u8::MAX,
            Area::Prefix(prefix) if prefix.is_empty() => 0,
            Area::Prefix(prefix) => prefix.len() + 2,
            Area::Mcc(_) => 2,
            Area::Country(_) => 1,
        }
    }
}

impl Area {
    /// Returns its short form: `49`, `262-01`, `mcc262`, `DE` or `*`.
    pub fn name(self) -> String {
        match self {
            Area::Prefix(prefix) if prefix.is_empty() => "*".to_owned(),
            Area::Prefix(prefix) => prefix.to_string(),
            Area::Network(network) => network.to_string(),
            Area::Mcc(mcc) => format!("mcc{mcc}"),
            Area::Country(country) => country.to_string(),
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Area::Network(network) => write!(f, "network {network}"),
            Area::Prefix(prefix) => write!(f, "prefix \"{prefix}\""),
            Area::Mcc(mcc) => write!(f, "mcc {mcc}"),
            Area::Country(country) => write!(f, "country {country}"),
        }
    }
}

/// Finds the value for a destination.
#[derive(Clone, Debug)]
pub struct AreaTable<V> {
    networks: HashMap<Network, V>,
    prefixes: PrefixTable<V>,
    mccs: HashMap<Mcc, V>,
    countries: HashMap<Country, V>,
    everywhere: Option<V>,
}

/// Two entries have the same area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is listed twice")]
pub struct DuplicateArea(pub Area);

impl<V> Default for AreaTable<V> {
    fn default() -> AreaTable<V> {
        AreaTable {
            networks: HashMap::new(),
            prefixes: PrefixTable::default(),
            mccs: HashMap::new(),
            countries: HashMap::new(),
            everywhere: None,
        }
    }
}

impl<V> AreaTable<V> {
    pub fn build(entries: impl IntoIterator<Item = (Area, V)>) -> Result<AreaTable<V>, DuplicateArea> {
        let mut table = AreaTable::default();
        let mut prefixes = Vec::new();
        for (area, value) in entries {
            let before = match area {
                Area::Network(network) => table.networks.insert(network, value),
                Area::Mcc(mcc) => table.mccs.insert(mcc, value),
                Area::Country(country) => table.countries.insert(country, value),
                Area::Prefix(Prefix::ANY) => table.everywhere.replace(value),
                Area::Prefix(prefix) => {
                    prefixes.push((prefix, value));
                    None
                }
            };
            if before.is_some() {
                return Err(DuplicateArea(area));
            }
        }
        table.prefixes =
            PrefixTable::build(prefixes).map_err(|duplicate| DuplicateArea(Area::Prefix(duplicate.0)))?;
        Ok(table)
    }

    /// Collects what belongs to each area with `add`, whose first refusal is returned.
    pub fn collect<E, X>(
        entries: impl IntoIterator<Item = (Area, E)>,
        mut add: impl FnMut(&mut V, Area, E) -> Result<(), X>,
    ) -> Result<AreaTable<V>, X>
    where
        V: Default,
    {
        let mut values: HashMap<Area, V> = HashMap::new();
        for (area, entry) in entries {
            add(values.entry(area).or_default(), area, entry)?;
        }
        Ok(AreaTable::build(values).expect("a map has each area once"))
    }

    /// Returns the areas that cover a number with their values, the most specific first.
    pub fn covering<'a>(
        &'a self,
        to: Msisdn,
        destination: &Destination<'_>,
    ) -> impl Iterator<Item = (Area, &'a V)> {
        let Destination { network, country, .. } = *destination;
        let by_network = || {
            let network = network.filter(|_| !self.networks.is_empty())?;
            Some((Area::Network(network), self.networks.get(&network)?))
        };
        let by_prefix = self.prefixes.covering(to).map(|(prefix, value)| (Area::Prefix(*prefix), value));
        let by_mcc = move || {
            let mcc = destination.mcc().filter(|_| !self.mccs.is_empty())?;
            Some((Area::Mcc(mcc), self.mccs.get(&mcc)?))
        };
        let by_country = move || {
            let country = country.filter(|_| !self.countries.is_empty())?;
            Some((Area::Country(country), self.countries.get(&country)?))
        };
        let everywhere = self.everywhere.as_ref().map(|value| (Area::Prefix(Prefix::ANY), value));
        by_network()
            .into_iter()
            .chain(by_prefix)
            .chain(iter::once_with(by_mcc).flatten())
            .chain(iter::once_with(by_country).flatten())
            .chain(everywhere)
    }

    /// Returns the value of the most specific area that covers a number.
    pub fn find(&self, to: Msisdn, destination: &Destination<'_>) -> Option<(Area, &V)> {
        self.covering(to, destination).next()
    }

    /// Returns all areas with their values, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (Area, &V)> {
        let prefixes = self.prefixes.entries().iter().map(|(prefix, value)| (Area::Prefix(*prefix), value));
        let networks = self.networks.iter().map(|(network, value)| (Area::Network(*network), value));
        let mccs = self.mccs.iter().map(|(mcc, value)| (Area::Mcc(*mcc), value));
        let countries = self.countries.iter().map(|(country, value)| (Area::Country(*country), value));
        let everywhere = self.everywhere.iter().map(|value| (Area::Prefix(Prefix::ANY), value));
        networks.chain(prefixes).chain(mccs).chain(countries).chain(everywhere)
    }
}

#[cfg(test)]
#[path = "area_tests.rs"]
mod tests;
