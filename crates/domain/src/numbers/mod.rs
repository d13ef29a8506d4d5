//! Where a phone number belongs: its country, the operator its range was given to, and that operator's network.
//! The answers come from two data files in the binary, which `cargo xtask numbers` builds; `docs/number-data.md` says
//! from what. They describe how ranges were handed out. Whether a subscriber has since taken a number to another
//! operator is known only to the carriers.

mod country;
mod network;
mod ranges;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use country::{Country, CountryRefusal, country_of_mcc, mccs_of};
pub use network::{Mcc, Mnc, Network, NetworkRefusal};

use crate::phone::Msisdn;
use ranges::Ranges;

/// What is known about a number before anyone is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination<'a> {
    /// None for numbers of no country (satellites, international services) and for codes nobody was given.
    pub country: Option<Country>,
    /// Empty where it is not known.
    pub operator: &'a str,
    /// None where the operator is not known, or its network does not follow from the range.
    pub network: Option<Network>,
}

impl Destination<'_> {
    pub const UNKNOWN: Destination<'static> = Destination { country: None, operator: "", network: None };

    /// In English, empty where it is not known.
    pub fn country_name(&self) -> &'static str {
        self.country.map_or("", Country::name)
    }

    /// The network's mobile country code; without a network the country's, provided it has exactly one.
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

/// The ranges of phone numbers and whose they are.
#[derive(Debug)]
pub struct Numbers {
    ranges: Ranges,
}

impl Numbers {
    /// The data this program was built with. Reading it takes some milliseconds, once: ask before the first customer
    /// does.
    pub fn embedded() -> &'static Numbers {
        static EMBEDDED: LazyLock<Numbers> =
            LazyLock::new(|| Numbers { ranges: Ranges::read(include_str!("../../data/numbers.tsv")) });
        &EMBEDDED
    }

    pub fn find(&self, to: Msisdn) -> Destination<'static> {
        self.ranges.find(to)
    }

    /// Whether numbers of the country that a mobile country code was assigned to can be found to have it: a range of that
    /// country names a network of it, or the country has no other. For a code of no country, any range counts.
    pub fn has_mcc(&self, mcc: Mcc) -> bool {
        let home = country_of_mcc(mcc);
        let named = self.ranges.any(|known| {
            known.network.is_some_and(|network| network.mcc == mcc)
                && (home.is_none() || known.country == home)
        });
        named || home.is_some_and(|home| mccs_of(home) == [mcc])
    }

    /// Whether any range of numbers is known to be this network's.
    pub fn has_network(&self, network: Network) -> bool {
        self.ranges.any(|known| known.network == Some(network))
    }

    /// Whose network it is, empty where that is not known. It looks through all there are.
    pub fn operator_of(&self, network: Network) -> &'static str {
        self.ranges.operator_of(network)
    }
}
