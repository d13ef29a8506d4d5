//! Counts copies of messages without keeping them: a hash for each message seen, and a count for those seen more
//! than once. Memory is bounded: about 151 MB at the limit of 14 million messages, nothing more after it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::carrier::text::Part;

/// Messages told apart. A set of this many 8-byte hashes takes 2^24 slots of 9 bytes.
pub(super) const MESSAGES_MAX: usize = 14_000_000;
/// Messages of which there are copies.
pub(super) const COPIED_MAX: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct Duplicates {
    seen: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
    /// For those seen more than once, how often.
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

    /// Messages that came after the limit: copies among them are not seen.
    pub(super) fn untracked(&self) -> u64 {
        self.untracked
    }

    /// How often each copied message came.
    pub(super) fn counts(&self) -> impl Iterator<Item = u32> {
        self.more.values().copied()
    }
}

/// What makes a message the same one again: where it goes, what it says, and which part of it this is. The
/// reference number of its parts is left out: a gateway that sends a text again may number it anew.
pub(in crate::carrier) fn fingerprint(destination: &[u8], part: Option<Part>, text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    destination.hash(&mut hasher);
    part.map(|part| (part.total, part.sequence)).hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}

/// The keys are hashes; hashing them again would only take time.
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
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_beyond_the_first() {
        let mut copies = Duplicates::new(10);
        for message in [1, 2, 3, 2, 3, 3] {
            copies.note(message);
        }
        assert_eq!((copies.extra(), copies.untracked()), (3, 0));
        let mut counts: Vec<u32> = copies.counts().collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 3]);
    }

    #[test]
    fn past_the_limit_new_messages_are_only_counted() {
        let mut copies = Duplicates::new(2);
        for message in [1, 2, 3, 3, 1] {
            copies.note(message);
        }
        assert_eq!((copies.extra(), copies.untracked()), (1, 2));
    }

    #[test]
    fn the_same_words_to_another_number_or_in_another_part_are_another_message() {
        let part = |reference, sequence| Some(Part { reference, total: 2, sequence });
        let hello = fingerprint(b"491", None, b"hello");
        assert_eq!(hello, fingerprint(b"491", None, b"hello"));
        assert_ne!(hello, fingerprint(b"492", None, b"hello"));
        assert_ne!(hello, fingerprint(b"491", None, b"hullo"));
        assert_ne!(hello, fingerprint(b"491", part(1, 1), b"hello"));
        assert_ne!(fingerprint(b"491", part(1, 1), b"x"), fingerprint(b"491", part(1, 2), b"x"));
        assert_eq!(fingerprint(b"491", part(1, 1), b"x"), fingerprint(b"491", part(9, 1), b"x"));
    }
}
