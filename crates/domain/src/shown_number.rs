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
#[path = "shown_number_tests.rs"]
mod tests;
