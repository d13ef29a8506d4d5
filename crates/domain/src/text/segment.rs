//! Cuts a text into parts and counts them. Prices, previews and links to carriers all ask here, so a part can never
//! be charged differently from how it is sent.
//!
//! Counting and cutting share one rule, [`Cutter`]: characters fill a part until the next one does not fit. A
//! character is never divided, hence neither is an escape pair nor a surrogate pair, and a part may stay one unit
//! short because of it.

use smallvec::SmallVec;

use super::{MessageText, gsm7, ucs2};
use crate::ids::PartNo;

/// How the parts of a text are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    Gsm7,
    Ucs2,
    /// Binary data: every character of the text is an octet.
    Octets,
}

impl Encoding {
    /// GSM-7 if it has every character of the text, else UCS-2 for all of it.
    pub fn choose(text: &str) -> Encoding {
        if Encoding::Gsm7.has_all_of(text) { Encoding::Gsm7 } else { Encoding::Ucs2 }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Encoding::Gsm7 => "gsm7",
            Encoding::Ucs2 => "ucs2",
            Encoding::Octets => "binary",
        }
    }

    /// Has it every character of the text?
    pub fn has_all_of(self, text: &str) -> bool {
        match self {
            Encoding::Gsm7 => text.chars().all(|character| gsm7::code(character).is_some()),
            Encoding::Ucs2 => true,
            Encoding::Octets => text.chars().all(|character| u8::try_from(character).is_ok()),
        }
    }

    /// Septets, UTF-16 units or octets that a message of one part holds: 140 octets in any case.
    pub const fn units_alone(self) -> usize {
        match self {
            Encoding::Gsm7 => 160,
            Encoding::Ucs2 => 70,
            Encoding::Octets => 140,
        }
    }

    /// Units in each part of several: six octets go to the header that joins them again.
    pub const fn units_joined(self) -> usize {
        match self {
            Encoding::Gsm7 => 153,
            Encoding::Ucs2 => 67,
            Encoding::Octets => 134,
        }
    }

    /// What a text takes in it.
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

/// What a text comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    pub encoding: Encoding,
    pub parts: u8,
}

/// Encoding and number of parts, without producing them.
pub fn measure(text: &MessageText) -> Measure {
    measure_gsm7(text.as_str()).unwrap_or_else(|| measure_in(text, Encoding::Ucs2))
}

/// Number of parts in an alphabet that has every character of the text.
pub fn measure_in(text: &MessageText, encoding: Encoding) -> Measure {
    let mut cutter = Cutter::new(encoding);
    for character in text.as_str().chars() {
        cutter.add(encoding.units(character));
    }
    Measure { encoding, parts: cutter.parts() }
}

/// `None` as soon as a character is not GSM-7: choosing and counting are one pass.
fn measure_gsm7(text: &str) -> Option<Measure> {
    let mut cutter = Cutter::new(Encoding::Gsm7);
    for character in text.chars() {
        cutter.add(gsm7::code(character)?.septets());
    }
    Some(Measure { encoding: Encoding::Gsm7, parts: cutter.parts() })
}

/// Decides where parts end. It is fed the size of each character in turn.
struct Cutter {
    encoding: Encoding,
    /// Units in all, as if there were no parts.
    total: usize,
    /// Units in the part being filled.
    filled: usize,
    parts: u8,
}

impl Cutter {
    fn new(encoding: Encoding) -> Cutter {
        Cutter { encoding, total: 0, filled: 0, parts: 1 }
    }

    /// True when this character begins a new part, should there be more than one in the end.
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

/// A text and where its parts end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments<'text> {
    text: &'text str,
    encoding: Encoding,
    /// The byte at which each part ends; the last is the length of the text.
    ends: SmallVec<[usize; 8]>,
}

impl<'text> Segments<'text> {
    pub fn of(text: &'text MessageText) -> Segments<'text> {
        Segments::of_encoding(text, Encoding::choose(text.as_str()))
    }

    /// In an alphabet that has every character of the text.
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
            // It was cut as if a header were needed, and needs none.
            ends.clear();
        }
        ends.push(text.len());
        Segments { text, encoding, ends }
    }

    pub fn measure(&self) -> Measure {
        let parts = u8::try_from(self.ends.len()).expect("the cutter counted them in a u8");
        Measure { encoding: self.encoding, parts }
    }

    /// The characters of one part. `None` past the last.
    pub fn slice(&self, part: PartNo) -> Option<&'text str> {
        let end = *self.ends.get(part.index())?;
        let start = match part.index().checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        };
        Some(&self.text[start..end])
    }

    /// The octets of one part as SMPP carries them, without any header: septets one to an octet, or UTF-16. `None`
    /// past the last.
    pub fn part(&self, part: PartNo) -> Option<Vec<u8>> {
        let slice = self.slice(part)?;
        let mut octets = Vec::with_capacity(2 * slice.len());
        match self.encoding {
            Encoding::Gsm7 => {
                let complete = gsm7::encode(slice, &mut octets);
                assert!(complete, "the text was found to be GSM-7");
            }
            Encoding::Ucs2 => ucs2::encode(slice, &mut octets),
            Encoding::Octets => write_octets(slice, &mut octets),
        }
        Some(octets)
    }
}

/// Appends binary data that was written as text.
pub fn write_octets(text: &str, octets: &mut Vec<u8>) {
    octets.extend(
        text.chars().map(|character| u8::try_from(character).expect("the text was found to be octets")),
    );
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
