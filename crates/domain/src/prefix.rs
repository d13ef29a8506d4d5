//! Longest-prefix look-up of phone numbers, for prices, routes and number ranges. Tables are built once and never
//! changed: a new catalogue has new tables.
//!
//! Every prefix covers an interval of numbers, and two intervals are either nested or disjoint. Flattened, they are one
//! sorted list of boundaries, each with the innermost prefix that applies from there, so that a look-up is one binary
//! search.

use std::fmt;

use crate::phone::{DIGITS_MAX, Msisdn};

/// The first digits of phone numbers, without a plus. The empty prefix matches every number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix {
    digits: u64,
    length: u8,
}

/// Why a text is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixRefusal {
    #[error("a prefix consists of digits only, without a +")]
    NotDigits,
    #[error("no international number begins with 0")]
    LeadingZero,
    #[error("a prefix has at most 15 digits, not {0}")]
    TooLong(usize),
}

impl Prefix {
    pub const ANY: Prefix = Prefix { digits: 0, length: 0 };

    pub fn parse(text: &str) -> Result<Prefix, PrefixRefusal> {
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(PrefixRefusal::NotDigits);
        }
        if text.starts_with('0') {
            return Err(PrefixRefusal::LeadingZero);
        }
        if text.len() > DIGITS_MAX {
            return Err(PrefixRefusal::TooLong(text.len()));
        }
        let length = u8::try_from(text.len()).expect("at most 15");
        let digits = if length == 0 { 0 } else { text.parse().expect("at most 15 digits fit a u64") };
        Ok(Prefix { digits, length })
    }

    /// Parses a number or its first digits, with or without a plus.
    pub fn parse_number(text: &str) -> Result<Prefix, PrefixRefusal> {
        Prefix::parse(text.strip_prefix('+').unwrap_or(text))
    }

    /// Returns the shortest prefixes that together cover the numbers from this prefix to `last`, which has as many digits.
    pub(crate) fn cover_to(self, last: Prefix) -> impl Iterator<Item = Prefix> {
        let Prefix { digits: first, length } = self;
        let mut from = first;
        std::iter::from_fn(move || {
            if from > last.digits {
                return None;
            }
            // As many digits are left out as the prefix has at most zeros at its end, and as do not lead beyond the last number.
            let left_out = (1..length).take_while(|left_out| {
                let size = 10_u64.pow(u32::from(*left_out));
                from.is_multiple_of(size) && from + size - 1 <= last.digits
            });
            let left_out = left_out.last().unwrap_or(0);
            let size = 10_u64.pow(u32::from(left_out));
            let prefix = Prefix { digits: from / size, length: length - left_out };
            from += size;
            Some(prefix)
        })
    }

    /// Returns this prefix and those after it, up to the one that ends in the digit `last`.
    pub(crate) fn up_to(self, last: u8) -> impl Iterator<Item = Prefix> {
        let end = self.digits - self.digits % 10 + u64::from(last);
        (self.digits..=end).map(move |digits| Prefix { digits, length: self.length })
    }

    /// Returns the sort key: by digits, a prefix before the longer ones that it contains.
    pub(crate) fn sort_key(self) -> (u64, u8) {
        (self.interval().0, self.length)
    }

    /// Whether the number begins with this prefix.
    pub fn begins(self, number: Msisdn) -> bool {
        let (start, end) = self.interval();
        (start..end).contains(&key(number.number()))
    }

    /// Whether the other prefix begins with this one, which is not longer.
    fn contains(self, other: Prefix) -> bool {
        let (start, end) = self.interval();
        (start..end).contains(&other.interval().0)
    }

    /// Returns the number of digits.
    pub const fn len(self) -> u8 {
        self.length
    }

    pub const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Returns the prefix without its last digit; `None` for the empty one.
    pub const fn shorter(self) -> Option<Prefix> {
        match self.length {
            0 => None,
            length => Some(Prefix { digits: self.digits / 10, length: length - 1 }),
        }
    }

    /// Returns the interval of keys that begin with this prefix.
    fn interval(self) -> (u64, u64) {
        let start = key(self.digits);
        (start, start + POWERS_OF_11[DIGITS_MAX - usize::from(self.length)])
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.length == 0 { Ok(()) } else { fmt::Display::fmt(&self.digits, f) }
    }
}

text_form!(Prefix: PrefixRefusal);
debug_as_text!(Prefix);

/// Two entries have the same prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prefix \"{0}\" is listed twice")]
pub struct DuplicatePrefix(pub Prefix);

#[derive(Clone, Debug)]
pub struct PrefixTable<V> {
    entries: Box<[(Prefix, V)]>,
    /// For each entry, the index of the next shorter prefix that contains it.
    shorter: Box<[Option<u32>]>,
    /// The index of the entry that applies in each interval.
    intervals: NumberIntervals<Option<u32>>,
}

impl<V> Default for PrefixTable<V> {
    fn default() -> PrefixTable<V> {
        PrefixTable {
            entries: Box::default(),
            shorter: Box::default(),
            intervals: NumberIntervals::flatten(std::iter::empty(), None),
        }
    }
}

impl<V> PrefixTable<V> {
    pub fn build(entries: impl IntoIterator<Item = (Prefix, V)>) -> Result<PrefixTable<V>, DuplicatePrefix> {
        let mut entries: Vec<(Prefix, V)> = entries.into_iter().collect();
        entries.sort_by_key(|(prefix, _)| prefix.sort_key());
        for pair in entries.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(DuplicatePrefix(pair[0].0));
            }
        }
        let indexed = (0_u32..).zip(&entries).map(|(index, (prefix, _))| (*prefix, Some(index)));
        let intervals = NumberIntervals::flatten(indexed, None);
        Ok(PrefixTable { shorter: shorter_of(&entries), entries: entries.into(), intervals })
    }

    /// Returns the prefixes of the number with their values, the longest first.
    pub fn covering(&self, number: Msisdn) -> impl Iterator<Item = &(Prefix, V)> {
        let position = |index: u32| usize::try_from(index).expect("an index of entries");
        let longest = self.intervals.find(number).map(position);
        std::iter::successors(longest, move |entry| self.shorter[*entry].map(position))
            .map(|entry| &self.entries[entry])
    }

    /// Returns all entries by prefix, a prefix before the longer ones that it contains.
    pub fn entries(&self) -> &[(Prefix, V)] {
        &self.entries
    }
}

/// Returns for each of the sorted prefixes the index of the next shorter one that contains it.
fn shorter_of<V>(sorted: &[(Prefix, V)]) -> Box<[Option<u32>]> {
    // The prefixes around the current one, outermost first.
    let mut open: Vec<(u32, Prefix)> = Vec::new();
    let shorter = (0..).zip(sorted).map(|(index, (prefix, _))| {
        while open.pop_if(|(_, around)| !around.contains(*prefix)).is_some() {}
        let around = open.last().map(|(index, _)| *index);
        open.push((index, *prefix));
        around
    });
    shorter.collect()
}

/// All phone numbers as consecutive intervals, each with a value.
#[derive(Clone, Debug)]
pub(crate) struct NumberIntervals<V> {
    /// The first key of each interval, ascending. The first is 0.
    starts: Box<[u64]>,
    values: Box<[V]>,
}

impl<V: Copy + PartialEq> NumberIntervals<V> {
    /// Builds the intervals from prefixes sorted by [`Prefix::sort_key`], without duplicates. Numbers that no prefix
    /// covers get `default`.
    pub(crate) fn flatten(sorted: impl Iterator<Item = (Prefix, V)>, default: V) -> NumberIntervals<V> {
        let mut builder = IntervalsBuilder { starts: vec![0], values: vec![default], default };
        // The prefixes around the current position, outermost first, with the ends of their intervals.
        let mut open: Vec<(u64, V)> = Vec::new();
        for (prefix, value) in sorted {
            let (start, end) = prefix.interval();
            builder.close_before(&mut open, start);
            builder.begin(start, value);
            open.push((end, value));
        }
        builder.close_before(&mut open, u64::MAX);
        NumberIntervals { starts: builder.starts.into(), values: builder.values.into() }
    }

    /// Returns the value of the longest prefix of the number.
    pub(crate) fn find(&self, number: Msisdn) -> V {
        let key = key(number.number());
        let after = self.starts.partition_point(|start| *start <= key);
        self.values[after - 1]
    }
}

struct IntervalsBuilder<V> {
    starts: Vec<u64>,
    values: Vec<V>,
    default: V,
}

impl<V: Copy + PartialEq> IntervalsBuilder<V> {
    /// Closes every open prefix that ends at or before `start`; the prefix around it applies again from its end.
    fn close_before(&mut self, open: &mut Vec<(u64, V)>, start: u64) {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= start) {
            self.begin(end, open.last().map_or(self.default, |(_, around)| *around));
        }
    }

    fn begin(&mut self, start: u64, value: V) {
        if self.starts.last() == Some(&start) {
            // The interval before is empty: this one replaces it.
            self.starts.pop();
            self.values.pop();
        }
        if self.values.last() == Some(&value) {
            // The interval before continues.
            return;
        }
        self.starts.push(start);
        self.values.push(value);
    }
}

const POWERS_OF_11: [u64; DIGITS_MAX + 1] = {
    let mut powers = [1; DIGITS_MAX + 1];
    let mut exponent = 1;
    while exponent <= DIGITS_MAX {
        powers[exponent] = powers[exponent - 1] * 11;
        exponent += 1;
    }
    powers
};

/// Returns digits as a left-aligned number in base 11, where digit `d` is `d + 1` and zero means "no digit". In base 10
/// a number would equal the same number followed by zeros, and match prefixes longer than itself.
fn key(digits: u64) -> u64 {
    let mut rest = digits;
    let mut key = 0;
    let mut length = 0;
    while rest > 0 {
        key += (rest % 10 + 1) * POWERS_OF_11[length];
        rest /= 10;
        length += 1;
    }
    key * POWERS_OF_11[DIGITS_MAX - length]
}

#[cfg(test)]
#[path = "prefix_tests.rs"]
mod tests;
