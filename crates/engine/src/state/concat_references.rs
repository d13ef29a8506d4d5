//! Concatenation references, which join the parts of a long message on the handset. Two messages of one sender to one
//! recipient that are sent at the same time must have different references, so they rotate per pair. A fixed table of
//! counters, shared by pairs with the same hash, takes 64 KiB.

use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use std::hash::{DefaultHasher, Hash, Hasher};

const COUNTERS: usize = 65_536;

pub struct ConcatReferences {
    seed: u64,
    counters: Vec<u8>,
}

impl ConcatReferences {
    /// Creates the counters. The seed decides where each pair starts.
    pub fn new(seed: u64) -> ConcatReferences {
        ConcatReferences { seed, counters: vec![0; COUNTERS] }
    }

    /// Returns the next reference of a sender and recipient.
    pub fn next(&mut self, from: &Sender, to: Msisdn) -> u8 {
        let mut hasher = DefaultHasher::new();
        (self.seed, from.as_str(), to.number()).hash(&mut hasher);
        let hash = hasher.finish();
        let index = usize::try_from(hash % 65_536).expect("below 65 536");
        let counter = &mut self.counters[index];
        // The hash decides where a pair starts, so that not every pair starts at 1 after a restart.
        *counter = counter.wrapping_add(1);
        counter.wrapping_add(hash.to_le_bytes()[7])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn pair_uses_all_256_references_before_one_repeats() {
        let mut references = ConcatReferences::new(7);
        let from = Sender::parse("Hermod").unwrap();
        let to = Msisdn::from_number(4_915_112_345_678).unwrap();
        let first: Vec<u8> = (0..256).map(|_| references.next(&from, to)).collect();
        assert_eq!(first.iter().collect::<HashSet<_>>().len(), 256);
        assert_eq!(references.next(&from, to), first[0]);
    }

    #[test]
    fn pairs_start_at_different_places() {
        let mut references = ConcatReferences::new(7);
        let from = Sender::parse("Hermod").unwrap();
        let starts: HashSet<u8> = (0..64)
            .map(|n| references.next(&from, Msisdn::from_number(4_915_112_345_600 + n).unwrap()))
            .collect();
        assert!(starts.len() > 32, "{starts:?}");
    }
}
