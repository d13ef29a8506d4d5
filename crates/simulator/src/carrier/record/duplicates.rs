//! Counts duplicates of messages by their hashes. Memory is bounded: about 151 MB at the limit of 14 million messages.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::carrier::text::PartNumber;

/// Messages that are compared. A set of this many 8-byte hashes takes 2^24 slots of 9 bytes.
pub(super) const MESSAGES_MAX: usize = 14_000_000;
/// Messages with more than one copy.
pub(super) const COPIED_MAX: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Duplicates {
    seen: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
    /// For messages received more than once, how often.
    more: HashMap<u64, u32, BuildHasherDefault<AlreadyHashed>>,
    messages_max: usize,
    extra: u64,
    untracked: u64,
}

impl Duplicates {
    pub(super) fn new(messages_max: usize) -> Duplicates {
        Duplicates {
            seen: HashSet::default(),
            more: HashMap::default(),
            messages_max: messages_max.min(MESSAGES_MAX),
            extra: 0,
            untracked: 0,
        }
    }

    pub(super) fn note(&mut self, message: u64) {
        if self.seen.contains(&message) {
            self.extra += 1;
            if self.more.len() < COPIED_MAX || self.more.contains_key(&message) {
                *self.more.entry(message).or_insert(1) += 1;
            }
        } else if self.seen.len() < self.messages_max {
            self.seen.insert(message);
        } else {
            self.untracked += 1;
        }
    }

    /// Duplicates beyond the first of each message.
    pub(super) fn extra(&self) -> u64 {
        self.extra
    }

    /// Messages beyond the limit, which are not compared.
    pub(super) fn untracked(&self) -> u64 {
        self.untracked
    }

    /// How often each message with copies was received.
    pub(super) fn counts(&self) -> impl Iterator<Item = u32> {
        self.more.values().copied()
    }
}

/// Returns a hash of destination, text and part number. The concatenation reference is left out, because a gateway may
/// choose another one when it sends a text again.
pub(in crate::carrier) fn fingerprint(destination: &[u8], part: Option<PartNumber>, text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    destination.hash(&mut hasher);
    part.map(|part| (part.total, part.sequence)).hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}

/// The keys are hashes already.
#[derive(Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 keys are hashed here");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
#[path = "duplicates_tests.rs"]
mod tests;
