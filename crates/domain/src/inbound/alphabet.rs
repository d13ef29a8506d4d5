//! Decodes MO texts by their `data_coding`. Septets are unpacked, one per octet. No message is refused: undecodable
//! octets are passed on unchanged.

use crate::carrier::DefaultAlphabet;
use crate::text::{gsm7, iso8859};
use serde::{Deserialize, Serialize};

named! {
    /// The alphabet of an MO message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Alphabet (as_u8, from_u8: u8) {
        Gsm = 1,
        Ascii = 2,
        Latin1 = 3,
        Cyrillic = 4,
        Hebrew = 5,
        Ucs2 = 6,
        /// Binary data, or an unknown data_coding.
        Octets = 7,
    }
}

impl Alphabet {
    /// Returns the alphabet of a `data_coding`; `zero` is the carrier's alphabet for data_coding 0.
    pub const fn of_data_coding(data_coding: u8, zero: DefaultAlphabet) -> Alphabet {
        match data_coding {
            0x00 => match zero {
                DefaultAlphabet::Gsm => Alphabet::Gsm,
                DefaultAlphabet::Ascii => Alphabet::Ascii,
                DefaultAlphabet::Latin1 => Alphabet::Latin1,
            },
            0x01 => Alphabet::Ascii,
            0x03 => Alphabet::Latin1,
            0x06 => Alphabet::Cyrillic,
            0x07 => Alphabet::Hebrew,
            0x08 => Alphabet::Ucs2,
            // With a message class; then message waiting; then the other group with a message class.
            0x10..=0x1F => match data_coding & 0b1100 {
                0b0000 => Alphabet::Gsm,
                0b1000 => Alphabet::Ucs2,
                _ => Alphabet::Octets,
            },
            0xC0..=0xDF => Alphabet::Gsm,
            0xE0..=0xEF => Alphabet::Ucs2,
            0xF0..=0xFF if data_coding & 0b100 == 0 => Alphabet::Gsm,
            _ => Alphabet::Octets,
        }
    }

    /// Decodes a text; `None` for binary data and invalid octets. Half a surrogate pair becomes a replacement
    /// character, because its other half is lost.
    pub fn decode(self, octets: &[u8]) -> Option<String> {
        match self {
            Alphabet::Gsm => gsm7::decode(octets).ok(),
            Alphabet::Ascii => octets.is_ascii().then(|| iso8859::latin1(octets)),
            Alphabet::Latin1 => Some(iso8859::latin1(octets)),
            Alphabet::Cyrillic => octets.iter().copied().map(iso8859::cyrillic).collect(),
            Alphabet::Hebrew => octets.iter().copied().map(iso8859::hebrew).collect(),
            Alphabet::Ucs2 => {
                let (units, []) = octets.as_chunks::<2>() else { return None };
                let units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
                Some(String::from_utf16_lossy(&units))
            }
            Alphabet::Octets => None,
        }
    }
}

#[cfg(test)]
#[path = "alphabet_tests.rs"]
mod tests;
