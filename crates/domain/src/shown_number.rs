//! Numbers as customers see them. Inside, events, requests and rows are counted over all accounts; shown so, the difference of two
//! numbers would tell a customer how much others do. A keyed permutation replaces them at the rim, and back.

use sha2::{Digest as _, Sha256};

/// Bits of each half. Shown numbers are below 2^52, which every JSON parser reads exactly.
const HALF_BITS: u32 = 26;
const HALF: u64 = (1 << HALF_BITS) - 1;
/// Rounds of the Feistel network; four make it a strong pseudorandom permutation (Luby and Rackoff).
const ROUNDS: [u8; 4] = [1, 2, 3, 4];

/// What a number counts. The same number of another kind is shown as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    Event,
    AuditRow,
    CustomerRequest,
    Review,
    LedgerRow,
    LoggedRequest,
    HttpRequest,
    Bind,
}

impl NumberKind {
    const fn octet(self) -> u8 {
        match self {
            NumberKind::Event => 1,
            NumberKind::AuditRow => 2,
            NumberKind::CustomerRequest => 3,
            NumberKind::Review => 4,
            NumberKind::LedgerRow => 5,
            NumberKind::LoggedRequest => 6,
            NumberKind::HttpRequest => 7,
            NumberKind::Bind => 8,
        }
    }
}

/// Shows numbers, and reads shown ones.
#[derive(Clone)]
pub struct ShownNumbers {
    key: [u8; 32],
}

impl ShownNumbers {
    /// Gateways with the same key show the same numbers.
    pub const fn new(key: [u8; 32]) -> ShownNumbers {
        ShownNumbers { key }
    }

    /// Returns how a number is shown. Numbers of 2^52 and more, which nothing reaches by counting, stay.
    pub fn show(&self, kind: NumberKind, number: u64) -> u64 {
        if number >> (2 * HALF_BITS) != 0 {
            return number;
        }
        let halves = (number >> HALF_BITS, number & HALF);
        let (left, right) = ROUNDS
            .into_iter()
            .fold(halves, |(left, right), round| (right, left ^ self.round(kind, round, right)));
        (left << HALF_BITS) | right
    }

    /// Returns the number that is shown so.
    pub fn read(&self, kind: NumberKind, shown: u64) -> u64 {
        if shown >> (2 * HALF_BITS) != 0 {
            return shown;
        }
        let halves = (shown >> HALF_BITS, shown & HALF);
        let (left, right) = ROUNDS
            .into_iter()
            .rev()
            .fold(halves, |(left, right), round| (right ^ self.round(kind, round, left), left));
        (left << HALF_BITS) | right
    }

    fn round(&self, kind: NumberKind, round: u8, half: u64) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update([kind.octet(), round]);
        hash.update(half.to_be_bytes());
        let digest = hash.finalize();
        let first = digest.iter().take(8).fold(0, |number: u64, octet| (number << 8) | u64::from(*octet));
        first & HALF
    }
}

/// Prints no key.
impl std::fmt::Debug for ShownNumbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShownNumbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn shown_number_is_read_back_and_neighbours_are_far_apart() {
        let numbers = ShownNumbers::new([7; 32]);
        let mut seen = HashSet::new();
        for number in (0..2_000).chain([(1 << 52) - 1, 1 << 52, u64::MAX]) {
            let shown = numbers.show(NumberKind::Event, number);
            assert_eq!(numbers.read(NumberKind::Event, shown), number);
            assert!(seen.insert(shown), "{number}");
        }
        let shown: Vec<u64> = (1..100).map(|number| numbers.show(NumberKind::Event, number)).collect();
        assert!(shown.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1_000), "{shown:?}");
        assert!(!shown.is_sorted(), "the order tells nothing: {shown:?}");
    }

    #[test]
    fn shown_number_depends_on_key_and_kind() {
        let (one, other) = (ShownNumbers::new([1; 32]), ShownNumbers::new([2; 32]));
        assert_ne!(one.show(NumberKind::Event, 7), other.show(NumberKind::Event, 7));
        assert_ne!(one.show(NumberKind::Event, 7), one.show(NumberKind::AuditRow, 7));
        // Stored at customers as webhook-id: it must not change with a release.
        assert_eq!(one.show(NumberKind::Event, 7), one.clone().show(NumberKind::Event, 7));
    }
}
