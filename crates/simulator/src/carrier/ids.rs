//! The ids a carrier gives to what it takes. They count upwards and are never given twice, also not to a gateway
//! that was restarted; by default they start at the clock, so that not even another run of the carrier repeats one.

use std::fmt::Write;

/// Digits a zero-filled id has at most: as many as the largest number needs.
const ZERO_FILLED_MAX: u8 = 20;
/// Of a prefix at most this much is written: with the longest style behind it an id still fits its 64 octets.
const PREFIX_BYTES_MAX: usize = 24;

/// How a number is written as an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdStyle {
    Decimal,
    /// Lower-case hexadecimal.
    Hex,
    /// Upper-case hexadecimal.
    UpperHex,
    /// Decimal, filled up with zeros to this many digits, 20 at most.
    ZeroDecimal(u8),
    /// Upper-case hexadecimal, filled up with zeros to this many digits, 20 at most.
    ZeroHex(u8),
    /// As a lower-case UUID.
    Uuid,
    /// As an upper-case UUID.
    UpperUuid,
}

/// How a carrier writes its ids, in answers and in receipts. Some carriers write them differently in the two: hex
/// in the answer and decimal in the receipt is the classic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdFormat {
    pub answer: IdStyle,
    pub receipt: IdStyle,
    /// What ids start with; the first 24 plain characters count.
    pub prefix: String,
}

impl IdFormat {
    pub fn new(style: IdStyle) -> IdFormat {
        IdFormat::each(style, style)
    }

    /// One style in answers, another in receipts.
    pub fn each(answer: IdStyle, receipt: IdStyle) -> IdFormat {
        IdFormat { answer, receipt, prefix: String::new() }
    }

    /// The id as the submit_sm_resp gives it.
    pub fn in_answer(&self, number: u64) -> String {
        self.write(self.answer, number)
    }

    /// The id as a receipt gives it.
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
        .expect("a string takes what is written to it");
        id
    }
}

/// The number as a UUID: its digits stand at the end, a scrambled copy in front, and no two numbers share one.
fn uuid(number: u64) -> String {
    let scrambled = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let (front, version) = (scrambled >> 32, scrambled & 0xfff);
    let (middle, node) = (number >> 48, number & 0xffff_ffff_ffff);
    format!("{front:08x}-{:04x}-4{version:03x}-{middle:04x}-{node:012x}", (scrambled >> 16) & 0xffff)
}

/// Where the numbers start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstId {
    /// At the time of the start in microseconds: no two runs overlap unless one gives out a million ids a second.
    Clock,
    At(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &IdFormat, answer: &str, receipt: &str) {
        let number = 0x812F_C747_0000_001B;
        assert_eq!(
            (format.in_answer(number).as_str(), format.in_receipt(number).as_str()),
            (answer, receipt)
        );
    }

    #[test]
    fn ids_are_written_in_the_carriers_style() {
        check(&IdFormat::new(IdStyle::Decimal), "9308878062554710043", "9308878062554710043");
        check(&IdFormat::new(IdStyle::Hex), "812fc7470000001b", "812fc7470000001b");
        check(&IdFormat::new(IdStyle::UpperHex), "812FC7470000001B", "812FC7470000001B");
        let mixed =
            IdFormat { answer: IdStyle::UpperHex, receipt: IdStyle::Decimal, prefix: "x-".to_owned() };
        check(&mixed, "x-812FC7470000001B", "x-9308878062554710043");
        let zeros = IdFormat::each(IdStyle::ZeroDecimal(20), IdStyle::ZeroHex(18));
        check(&zeros, "09308878062554710043", "00812FC7470000001B");
    }

    #[test]
    fn uuids_look_like_uuids_and_differ() {
        let ids: std::collections::HashSet<String> = (0..1000).map(uuid).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        }
        let format = IdFormat::each(IdStyle::Uuid, IdStyle::UpperUuid);
        assert_eq!(format.in_answer(7).to_ascii_uppercase(), format.in_receipt(7));
    }

    #[test]
    fn no_id_is_longer_than_an_answer_holds() {
        let prefix = "ä".repeat(9) + &"p".repeat(99);
        for style in [IdStyle::Uuid, IdStyle::ZeroDecimal(255), IdStyle::Hex] {
            let id = IdFormat { prefix: prefix.clone(), ..IdFormat::new(style) }.in_answer(u64::MAX);
            assert!(id.is_ascii() && id.len() <= 64, "{id}");
        }
    }
}
