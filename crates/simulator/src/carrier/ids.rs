//! The ids a carrier gives to what it takes. They count upwards and are never given twice, also not to a gateway
//! that was restarted; by default they start at the clock, so that not even another run of the carrier repeats one.

use std::fmt::Write;

/// How a number is written as an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdStyle {
    Decimal,
    /// Lower-case hexadecimal.
    Hex,
    /// Upper-case hexadecimal.
    UpperHex,
}

/// How a carrier writes its ids, in answers and in receipts. Some carriers write them differently in the two: hex
/// in the answer and decimal in the receipt is the classic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdFormat {
    pub answer: IdStyle,
    pub receipt: IdStyle,
    pub prefix: String,
}

impl IdFormat {
    pub fn new(style: IdStyle) -> IdFormat {
        IdFormat { answer: style, receipt: style, prefix: String::new() }
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
        id.push_str(&self.prefix);
        match style {
            IdStyle::Decimal => write!(id, "{number}"),
            IdStyle::Hex => write!(id, "{number:x}"),
            IdStyle::UpperHex => write!(id, "{number:X}"),
        }
        .expect("a string takes what is written to it");
        id
    }
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
    }
}
