//! Looks up the country, the mobile operator and the network of a phone number, in data files that are embedded in
//! the binary. `cargo xtask numbers` builds them; see `docs/number-data.md`. They hold the assignment of number ranges;
//! number portability is known only to the carriers.

mod country;
mod listed;
mod network;
mod ranges;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use country::{Country, CountryRefusal, country_of_mcc, mccs_of};
pub use listed::{is_listed, listed_networks};
pub use network::{Mcc, Mnc, Network, NetworkRefusal};

use crate::phone::Msisdn;
use crate::prefix::Prefix;
use ranges::Ranges;

/// The data file.
const TEXT: &str = include_str!("../../data/numbers.tsv");

/// The destination of a number, by its number range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination<'a> {
    /// `None` for numbers of no country (satellites, international services) and unassigned codes.
    pub country: Option<Country>,
    /// The mobile operator; empty if unknown.
    pub operator: &'a str,
    /// `None` if the operator is unknown or its network does not follow from the range.
    pub network: Option<Network>,
}

impl Destination<'_> {
    pub const UNKNOWN: Destination<'static> = Destination { country: None, operator: "", network: None };

    /// Returns the English name of the country; empty if unknown.
    pub fn country_name(&self) -> &'static str {
        self.country.map_or("", Country::name)
    }

    /// Returns the network's MCC; without a network the country's, if it has exactly one.
    pub fn mcc(&self) -> Option<Mcc> {
        if let Some(network) = self.network {
            return Some(network.mcc);
        }
        match mccs_of(self.country?) {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// All number ranges with their destinations.
#[derive(Debug)]
pub struct Numbers {
    ranges: Ranges,
}

impl Numbers {
    /// Returns the embedded data. The first call parses it, which takes some milliseconds, so call it at startup.
    pub fn embedded() -> &'static Numbers {
        static EMBEDDED: LazyLock<Numbers> = LazyLock::new(|| Numbers { ranges: Ranges::read(TEXT) });
        &EMBEDDED
    }

    pub fn find(&self, to: Msisdn) -> Destination<'static> {
        self.ranges.find(to)
    }

    /// Returns every destination of the data with an invented number of it, by country.
    pub fn examples() -> &'static [(Destination<'static>, Msisdn)] {
        static EXAMPLES: LazyLock<Vec<(Destination<'static>, Msisdn)>> =
            LazyLock::new(|| Numbers::embedded().ranges.examples(TEXT));
        &EXAMPLES
    }

    /// Returns an invented number with this prefix; `None` for a prefix that no number has.
    pub fn example_of(prefix: Prefix) -> Option<Msisdn> {
        ranges::example_of(prefix)
    }

    /// Whether a look-up can return this MCC for numbers of its country: a range names a network with it, or the
    /// country has no other MCC. For an MCC of no country, any range counts.
    pub fn has_mcc(&self, mcc: Mcc) -> bool {
        let home = country_of_mcc(mcc);
        let named = self.ranges.any(|known| {
            known.network.is_some_and(|network| network.mcc == mcc)
                && (home.is_none() || known.country == home)
        });
        named || home.is_some_and(|home| mccs_of(home) == [mcc])
    }

    /// Whether any range belongs to this network.
    pub fn has_network(&self, network: Network) -> bool {
        self.ranges.any(|known| known.network == Some(network))
    }

    /// Returns the operator of a network; empty if unknown. A linear search.
    pub fn operator_of(&self, network: Network) -> &'static str {
        self.ranges.operator_of(network)
    }
}
