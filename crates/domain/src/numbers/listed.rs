//! The mobile networks that were assigned, by mobile country code, whether or not number ranges of them are known.

use super::network::{Mcc, Mnc, Network};
use std::sync::LazyLock;

/// The network codes of a mobile country code, ascending.
type Listed = (Mcc, Box<[Mnc]>);

static LISTED: LazyLock<Box<[Listed]>> = LazyLock::new(|| read(include_str!("../../data/networks.tsv")));

/// Parses lines of a mobile country code and its network codes, ascending.
fn read(text: &'static str) -> Box<[Listed]> {
    let line = |line: &'static str| {
        let (mcc, mncs) = line.split_once('\t').expect("the file has two fields a line");
        let mncs = mncs.split(' ').map(|mnc| Mnc::parse(mnc).expect("the file has network codes"));
        (Mcc::parse(mcc).expect("the file has codes of three digits"), mncs.collect())
    };
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

/// Returns the networks of a mobile country code; empty for a code that was not assigned.
pub fn listed_networks(mcc: Mcc) -> impl Iterator<Item = Network> {
    let found = LISTED.binary_search_by_key(&mcc, |(listed, _)| *listed).ok();
    let mncs = found.map_or(&[][..], |found| &LISTED[found].1);
    mncs.iter().map(move |mnc| Network { mcc, mnc: *mnc })
}

/// Whether a network was assigned.
pub fn is_listed(network: Network) -> bool {
    listed_networks(network.mcc).any(|listed| listed == network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_in_order_and_has_two_and_three_digit_codes() {
        assert!(LISTED.is_sorted_by(|(one, _), (other, _)| one < other));
        assert!(LISTED.iter().map(|(_, mncs)| mncs.len()).sum::<usize>() > 2_500);
        for (network, expect) in [("262-01", true), ("262-001", false), ("310-260", true), ("310-59", true)] {
            assert_eq!(Network::parse(network).map(is_listed), Ok(expect), "{network}");
        }
        assert_eq!(Mcc::parse("199").map(|mcc| listed_networks(mcc).count()), Ok(0));
    }
}
