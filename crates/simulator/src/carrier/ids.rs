//! Message ids of the carrier. They count up and never repeat, also not for a gateway that was restarted; by default they
//! start at the clock, so that another run of the carrier does not repeat them either.

use std::fmt::Write;

use serde::Deserialize;

/// Digits of a zero-filled id: as many as the largest 64-bit number has.
const ZERO_FILLED_MAX: u8 = 20;
/// Octets of a prefix that are written: with the longest style after it an id still fits into 64 octets.
const PREFIX_BYTES_MAX: usize = 24;

/// How a number is written as an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdStyle {
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &IdFormat, response: &str, receipt: &str) {
        let number = 0x812F_C747_0000_001B;
        assert_eq!(
            (format.in_response(number).as_str(), format.in_receipt(number).as_str()),
            (response, receipt)
        );
    }

    #[test]
    fn ids_follow_the_style_of_responses_and_receipts() {
        check(&IdFormat::new(IdStyle::Decimal), "9308878062554710043", "9308878062554710043");
        check(&IdFormat::new(IdStyle::Hex), "812fc7470000001b", "812fc7470000001b");
        check(&IdFormat::new(IdStyle::UpperHex), "812FC7470000001B", "812FC7470000001B");
        let mixed =
            IdFormat { response: IdStyle::UpperHex, receipt: IdStyle::Decimal, prefix: "x-".to_owned() };
        check(&mixed, "x-812FC7470000001B", "x-9308878062554710043");
        let zeros = IdFormat::each(IdStyle::ZeroDecimal(20), IdStyle::ZeroHex(18));
        check(&zeros, "09308878062554710043", "00812FC7470000001B");
    }

    #[test]
    fn uuids_are_well_formed_and_unique() {
        let ids: std::collections::HashSet<String> = (0..1000).map(uuid).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        }
        let format = IdFormat::each(IdStyle::Uuid, IdStyle::UpperUuid);
        assert_eq!(format.in_response(7).to_ascii_uppercase(), format.in_receipt(7));
    }

    #[test]
    fn ids_with_a_long_prefix_fit_into_64_octets() {
        let prefix = "ä".repeat(9) + &"p".repeat(99);
        for style in [IdStyle::Uuid, IdStyle::ZeroDecimal(255), IdStyle::Hex] {
            let id = IdFormat { prefix: prefix.clone(), ..IdFormat::new(style) }.in_response(u64::MAX);
            assert!(id.is_ascii() && id.len() <= 64, "{id}");
        }
    }
}
