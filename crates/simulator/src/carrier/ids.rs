//! Message ids of the carrier. They count up and never repeat, also not for a gateway that was restarted; by default they
//! start at the clock, so that another run of the carrier does not repeat them either.

use std::fmt::Write;

use serde::Deserialize;

/// Digits of a zero-filled id: as many as the largest 64-bit number has.
const ZERO_FILLED_MAX: u8 = 20;
/// Octets of a prefix that are written: with the longest style after it an id still fits into 64 octets.
const PREFIX_BYTES_MAX: usize = 24;

/// How a number is written as an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdStyle {
    #[default]
    Decimal,
    /// Lower-case hexadecimal.
    Hex,
    UpperHex,
    /// Decimal, filled with zeros to this many digits, at most 20.
    ZeroDecimal(u8),
    /// Upper-case hexadecimal, filled with zeros to this many digits, at most 20.
    ZeroHex(u8),
    /// Lower-case UUID.
    Uuid,
    UpperUuid,
}

/// How ids are written in responses and in receipts. Some carriers use two styles: hex in the response and decimal in the
/// receipt is the best known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdFormat {
    pub response: IdStyle,
    pub receipt: IdStyle,
    /// Starts every id; only the first 24 printable ASCII characters are used.
    #[serde(default)]
    pub prefix: String,
}

impl IdFormat {
    pub fn new(style: IdStyle) -> IdFormat {
        IdFormat::each(style, style)
    }

    pub fn each(response: IdStyle, receipt: IdStyle) -> IdFormat {
        IdFormat { response, receipt, prefix: String::new() }
    }

    /// Returns the id as the submit_sm_resp contains it.
    pub fn in_response(&self, number: u64) -> String {
        self.write(self.response, number)
    }

    /// Returns the id as a receipt contains it.
    pub fn in_receipt(&self, number: u64) -> String {
        self.write(self.receipt, number)
    }

    fn write(&self, style: IdStyle, number: u64) -> String {
        let mut id = String::with_capacity(self.prefix.len() + 20);
        id.extend(self.prefix.chars().filter(char::is_ascii_graphic).take(PREFIX_BYTES_MAX));
        let zeros = |digits: u8| usize::from(digits.min(ZERO_FILLED_MAX));
        match style {
            IdStyle::Decimal => write!(id, "{number}"),
            IdStyle::Hex => write!(id, "{number:x}"),
            IdStyle::UpperHex => write!(id, "{number:X}"),
            IdStyle::ZeroDecimal(digits) => write!(id, "{number:0width$}", width = zeros(digits)),
            IdStyle::ZeroHex(digits) => write!(id, "{number:0width$X}", width = zeros(digits)),
            IdStyle::Uuid => id.write_str(&uuid(number)),
            IdStyle::UpperUuid => id.write_str(&uuid(number).to_ascii_uppercase()),
        }
        .expect("writing to a string does not fail");
        id
    }
}

/// Writes the number as a UUID: its digits at the end, a scrambled copy in front. No two numbers share one.
fn uuid(number: u64) -> String {
    let scrambled = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let (front, version) = (scrambled >> 32, scrambled & 0xfff);
    let (middle, node) = (number >> 48, number & 0xffff_ffff_ffff);
    format!("{front:08x}-{:04x}-4{version:03x}-{middle:04x}-{node:012x}", (scrambled >> 16) & 0xffff)
}

/// The first number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstId {
    /// The time of the start in microseconds: two runs overlap only above a million ids per second.
    Clock,
    At(u64),
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
