//! Joins the parts of an MO message, as far as they were received.

use crate::hex::{from_hex, hex};
use crate::inbound::{Alphabet, MoSegment};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The content of an MO message.
#[derive(Clone, PartialEq, Eq)]
pub struct MoContent {
    /// The decoded text; binary data as hexadecimal digits.
    pub text: String,
    pub form: MoEncoding,
    /// The elements of the first part's user data header, except concatenation.
    pub header: Box<[u8]>,
}

/// How the text was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoEncoding {
    /// One octet or septet per character.
    SingleByte,
    Ucs2,
    /// Binary data, in the text as hexadecimal digits, with the carrier's data_coding.
    Octets {
        data_coding: u8,
    },
}

impl MoContent {
    /// Joins segments with their part numbers, in order; parts may be missing. Consecutive segments in the same
    /// alphabet are decoded together, because a character may be divided between them.
    pub fn of(segments: &[(u8, MoSegment)]) -> MoContent {
        let mut content =
            MoContent { text: String::new(), form: MoEncoding::SingleByte, header: Box::default() };
        let Some((_, first)) = segments.first() else { return content };
        content.header.clone_from(&first.header);
        let (mut texts, mut wide, mut octets) = (false, false, None);
        for run in segments.chunk_by(|one, next| {
            one.0.checked_add(1) == Some(next.0)
                && one.1.data_coding == next.1.data_coding
                && one.1.alphabet == next.1.alphabet
        }) {
            let Some((_, MoSegment { data_coding, alphabet, .. })) = run.first() else { continue };
            let octets_of_run: Vec<u8> =
                run.iter().flat_map(|(_, segment)| segment.octets.iter().copied()).collect();
            match alphabet.decode(&octets_of_run) {
                Some(text) => {
                    content.text.push_str(&text);
                    texts = true;
                    wide |= *alphabet == Alphabet::Ucs2;
                }
                None => {
                    content.text.push_str(&hex(&octets_of_run));
                    octets.get_or_insert(*data_coding);
                }
            }
        }
        content.form = match octets {
            Some(data_coding) if !texts => MoEncoding::Octets { data_coding },
            _ if wide => MoEncoding::Ucs2,
            _ => MoEncoding::SingleByte,
        };
        content
    }
}

impl MoEncoding {
    /// Returns the octets of a binary message; `None` for a text message or invalid digits.
    pub fn octets_of(self, text: &str) -> Option<Vec<u8>> {
        let MoEncoding::Octets { .. } = self else { return None };
        from_hex(text)
    }
}

/// Prints no text.
impl fmt::Debug for MoContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoContent({:?}, {} bytes)", self.form, self.text.len())
    }
}

#[cfg(test)]
#[path = "concatenation_tests.rs"]
mod tests;
