//! Splits a text into segments and counts them. Pricing and sending use the same code, so the number of parts charged
//! is the number sent.
//!
//! Counting and splitting share [`Cutter`]: characters fill a part until the next one does not fit. A character is
//! never divided, so neither is an escape sequence nor a surrogate pair, and a part may be one unit short because of
//! it.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{MessageText, gsm7};
use crate::ids::PartNo;

named! {
    /// The encoding of a text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Encoding {
        Gsm7 = "gsm7",
        Ucs2 = "ucs2",
        /// Binary data: every character of the text stands for one octet.
        Octets = "binary",
    }
}

impl Encoding {
    /// Returns GSM-7 if it has every character of the text, otherwise UCS-2.
    pub fn choose(text: &str) -> Encoding {
        if Encoding::Gsm7.has_all_of(text) { Encoding::Gsm7 } else { Encoding::Ucs2 }
    }

    /// Whether the encoding has every character of the text.
    pub fn has_all_of(self, text: &str) -> bool {
        match self {
            Encoding::Gsm7 => text.chars().all(|character| gsm7::code(character).is_some()),
            Encoding::Ucs2 => true,
            Encoding::Octets => text.chars().all(|character| u8::try_from(character).is_ok()),
        }
    }

    /// Returns how many septets, UTF-16 units or octets a single-part message holds: 140 octets in each case.
    pub const fn units_alone(self) -> usize {
        match self {
            Encoding::Gsm7 => 160,
            Encoding::Ucs2 => 70,
            Encoding::Octets => 140,
        }
    }

    /// Returns how many units each part of a concatenated message holds: six octets go to the user data header.
    pub const fn units_joined(self) -> usize {
        match self {
            Encoding::Gsm7 => 153,
            Encoding::Ucs2 => 67,
            Encoding::Octets => 134,
        }
    }

    /// Returns the number of units that the text needs.
    pub fn units_of(self, text: &str) -> usize {
        text.chars().map(|character| self.units(character)).sum()
    }

    fn units(self, character: char) -> usize {
        match self {
            Encoding::Gsm7 => gsm7::code(character).expect("the text was found to be GSM-7").septets(),
            Encoding::Ucs2 => character.len_utf16(),
            Encoding::Octets => 1,
        }
    }
}

/// The encoding and the number of parts of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    pub encoding: Encoding,
    pub parts: u8,
}

/// Returns the encoding and the number of parts without splitting the text.
pub fn measure(text: &MessageText) -> Measure {
    measure_gsm7(text.as_str()).unwrap_or_else(|| measure_in(text, Encoding::Ucs2))
}

/// Returns the number of parts in an encoding that has every character of the text.
pub fn measure_in(text: &MessageText, encoding: Encoding) -> Measure {
    let mut cutter = Cutter::new(encoding);
    for character in text.as_str().chars() {
        cutter.add(encoding.units(character));
    }
    Measure { encoding, parts: cutter.parts() }
}

/// Returns `None` at the first character that is not GSM-7, so that choosing the encoding and counting are one pass.
fn measure_gsm7(text: &str) -> Option<Measure> {
    let mut cutter = Cutter::new(Encoding::Gsm7);
    for character in text.chars() {
        cutter.add(gsm7::code(character)?.septets());
    }
    Some(Measure { encoding: Encoding::Gsm7, parts: cutter.parts() })
}

/// Decides where parts end, from the size of each character in turn.
struct Cutter {
    encoding: Encoding,
    /// Units of the whole text.
    total: usize,
    /// Units in the current part.
    filled: usize,
    parts: u8,
}

impl Cutter {
    fn new(encoding: Encoding) -> Cutter {
        Cutter { encoding, total: 0, filled: 0, parts: 1 }
    }

    /// Adds a character. Returns true if it begins a new part, provided that the text needs more than one.
    fn add(&mut self, units: usize) -> bool {
        self.total += units;
        self.filled += units;
        let begins_part = self.filled > self.encoding.units_joined();
        if begins_part {
            self.filled = units;
            self.parts = self.parts.checked_add(1).expect("1600 characters make at most 49 parts");
        }
        begins_part
    }

    fn parts(&self) -> u8 {
        if self.total <= self.encoding.units_alone() { 1 } else { self.parts }
    }
}

/// A text split into segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments<'text> {
    text: &'text str,
    encoding: Encoding,
    /// The byte offset at which each part ends; the last is the length of the text.
    ends: SmallVec<[usize; 8]>,
}

impl<'text> Segments<'text> {
    pub fn of(text: &'text MessageText) -> Segments<'text> {
        Segments::of_encoding(text, Encoding::choose(text.as_str()))
    }

    /// Splits the text in an encoding that has all its characters.
    pub fn of_encoding(text: &'text MessageText, encoding: Encoding) -> Segments<'text> {
        let text = text.as_str();
        let mut cutter = Cutter::new(encoding);
        let mut ends = SmallVec::new();
        for (at, character) in text.char_indices() {
            if cutter.add(encoding.units(character)) {
                ends.push(at);
            }
        }
        if cutter.parts() == 1 {
            // The text fits one part without a header.
            ends.clear();
        }
        ends.push(text.len());
        Segments { text, encoding, ends }
    }

    pub fn measure(&self) -> Measure {
        let parts = u8::try_from(self.ends.len()).expect("the cutter counted them in a u8");
        Measure { encoding: self.encoding, parts }
    }

    /// Returns the characters of one part; `None` past the last.
    pub fn slice(&self, part: PartNo) -> Option<&'text str> {
        let end = *self.ends.get(part.index())?;
        let start = match part.index().checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        };
        Some(&self.text[start..end])
    }
}

/// Appends the octets of a text of [`Encoding::Octets`].
pub fn write_octets(text: &str, octets: &mut Vec<u8>) {
    octets.extend(
        text.chars().map(|character| u8::try_from(character).expect("the text was found to be octets")),
    );
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
