//! Built-in lists of numbers that an operator can block as a whole.

use crate::prefix::Prefix;
use serde::{Deserialize, Serialize};

named! {
    /// A built-in list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum NumberList {
        PremiumAndSatellite = "premium-and-satellite",
    }
}

/// Premium-rate, televoting and personal numbers and satellite networks, to which fraud sends messages for a share of the price. A
/// starting point and not complete: only ranges that the ITU or the national numbering plan assigns to them as a whole.
const PREMIUM_AND_SATELLITE: &[(&str, &[&str])] = &[
    ("Inmarsat", &["870"]),
    ("Universal personal numbers", &["878"]),
    ("Satellite networks such as Iridium and Globalstar", &["881"]),
    ("International networks such as Thuraya", &["882", "883"]),
    ("International premium rate", &["979"]),
    ("United States, Canada and the Caribbean", &["1900"]),
    ("Australia", &["61190"]),
    ("Austria", &["43900", "43901", "43930", "43931", "43939"]),
    ("Belgium", &["3290"]),
    ("Czechia", &["420900", "420906", "420909"]),
    ("Denmark", &["4590"]),
    ("Finland", &["358600", "358700"]),
    ("France", &["3389"]),
    ("Germany", &["49137", "49900"]),
    ("Hungary", &["3690", "3691"]),
    ("Italy", &["39892", "39894", "39895", "39899"]),
    ("Netherlands", &["31900", "31906", "31909"]),
    ("New Zealand", &["64900"]),
    ("Norway", &["47820", "47829"]),
    ("Poland", &["4870"]),
    ("Portugal", &["351760", "351761"]),
    ("Romania", &["40900", "40903", "40906"]),
    ("Russia", &["7809"]),
    ("Spain", &["34803", "34806", "34807", "34905"]),
    ("Sweden", &["46900", "46939", "46944"]),
    ("Switzerland", &["41900", "41901", "41906"]),
    ("Turkey", &["90900"]),
    ("United Kingdom: personal numbers (070) and premium rate (09)", &["4470", "449"]),
];

impl NumberList {
    /// Returns the prefixes of its numbers.
    pub fn prefixes(self) -> impl Iterator<Item = Prefix> {
        let ranges = match self {
            NumberList::PremiumAndSatellite => PREMIUM_AND_SATELLITE,
        };
        let texts = ranges.iter().flat_map(|(_, texts)| texts.iter());
        texts.map(|text| Prefix::parse(text).expect("a test parses every prefix"))
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
