//! Ranges of phone numbers, such as 4990000-4990099.

use crate::prefix::{Prefix, PrefixRefusal};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// The numbers that begin with the digits from `first` to `last`, both included. `4990000-4990099` has 4990042 and every longer
/// number that begins with it. It is for numbers of one length: where it has 4990000 to 4990009, it also has 499000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberRange {
    first: Prefix,
    /// Has as many digits as `first` and is not before it.
    last: Prefix,
}

/// Why a text is not a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeRefusal {
    #[error("a range is two numbers with - between them, such as 4990000-4990099")]
    NotTwo,
    #[error(transparent)]
    Digits(#[from] PrefixRefusal),
    #[error("both numbers of a range have the same number of digits")]
    Lengths,
    #[error("the first number of a range is not after the last")]
    Backwards,
}

impl NumberRange {
    /// Parses `4990000-4990099`. Either number may have a plus.
    pub fn parse(text: &str) -> Result<NumberRange, RangeRefusal> {
        let (first, last) = text.split_once('-').ok_or(RangeRefusal::NotTwo)?;
        let (first, last) = (Prefix::parse_number(first)?, Prefix::parse_number(last)?);
        if first.is_empty() || last.is_empty() {
            return Err(RangeRefusal::NotTwo);
        }
        if first.len() != last.len() {
            return Err(RangeRefusal::Lengths);
        }
        if first.sort_key() > last.sort_key() {
            return Err(RangeRefusal::Backwards);
        }
        Ok(NumberRange { first, last })
    }

    /// Returns the shortest prefixes that together cover the range, at most 18 for each digit.
    pub(super) fn prefixes(self) -> impl Iterator<Item = Prefix> {
        self.first.cover_to(self.last)
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl FromStr for NumberRange {
    type Err = RangeRefusal;

    fn from_str(text: &str) -> Result<NumberRange, RangeRefusal> {
        NumberRange::parse(text)
    }
}

impl Serialize for NumberRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NumberRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumberRange, D::Error> {
        let text = String::deserialize(deserializer)?;
        let range = NumberRange::parse(&text);
        range.map_err(|refusal| de::Error::custom(format!("\"{text}\": {refusal}")))
    }
}

#[cfg(test)]
#[path = "range_tests.rs"]
mod tests;
