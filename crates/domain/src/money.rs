//! Amounts of money as whole millionths of a currency's major unit, so that 0.0375 times three parts is exact. Amounts
//! are parsed from and written as decimal text; no binary fraction is involved.

use std::fmt;

use crate::currency_codes::CODES;
const DECIMALS: usize = 6;
const MICROS_PER_UNIT: u64 = 1_000_000;

/// Millionths of the major unit. Signed, because a postpaid balance may be negative. The currency is a property of the
/// account, which has exactly one.
///
/// In JSON bodies an amount is a *number*: write the text of `Display` verbatim. `Serialize` gives the same text as a
/// string, the format of configuration files and `Deserialize`; binary formats have the integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyRefusal {
    #[error("an amount must be digits with an optional decimal point, such as 12 or 0.035")]
    NotDecimal,
    #[error("an amount must have at most 6 decimals")]
    TooManyDecimals,
    #[error("the amount is too large")]
    OutOfRange,
}

/// The largest balance, debt, limit or single amount: 10^12 units. Sums of several such amounts do not overflow.
pub const AMOUNT_MAX: Money = Money(1_000_000_000_000 * 1_000_000);

const _: () = assert!(AMOUNT_MAX.0 < i64::MAX / 8);

impl Money {
    pub const ZERO: Money = Money(0);

    pub const fn from_micros(micros: i64) -> Money {
        Money(micros)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    #[must_use]
    pub fn checked_add(self, other: Money) -> Option<Money> {
        self.0.checked_add(other.0).map(Money)
    }

    #[must_use]
    pub fn checked_sub(self, other: Money) -> Option<Money> {
        self.0.checked_sub(other.0).map(Money)
    }

    #[must_use]
    pub fn checked_neg(self) -> Option<Money> {
        self.0.checked_neg().map(Money)
    }

    /// Multiplies the price of one part by the number of parts; `None` on overflow.
    #[must_use]
    pub fn times(self, parts: u8) -> Option<Money> {
        self.0.checked_mul(i64::from(parts)).map(Money)
    }

    /// Parses `12`, `0.035`, `-1.5`: no exponent, no plus, digits on both sides of the point, no grouping.
    pub fn parse(text: &str) -> Result<Money, MoneyRefusal> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((_, "")) => return Err(MoneyRefusal::NotDecimal),
            Some(halves) => halves,
            None => (unsigned, ""),
        };
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(MoneyRefusal::NotDecimal);
        }
        if fraction.len() > DECIMALS {
            return Err(MoneyRefusal::TooManyDecimals);
        }
        let mut micros: i64 = 0;
        let padding = std::iter::repeat_n(b'0', DECIMALS - fraction.len());
        for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
            // Computed as a negative number, because the lowest i64 has no positive counterpart.
            micros = micros
                .checked_mul(10)
                .and_then(|m| m.checked_sub(i64::from(digit - b'0')))
                .ok_or(MoneyRefusal::OutOfRange)?;
        }
        if negative {
            Ok(Money(micros))
        } else {
            micros.checked_neg().map(Money).ok_or(MoneyRefusal::OutOfRange)
        }
    }
}

/// Writes the shortest decimal (`0.935`, `12`, `-0.5`), which is a valid JSON number.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs() / MICROS_PER_UNIT;
        let micros = self.0.unsigned_abs() % MICROS_PER_UNIT;
        if micros == 0 {
            return write!(f, "{sign}{units}");
        }
        let (mut fraction, mut width) = (micros, DECIMALS);
        while fraction % 10 == 0 {
            fraction /= 10;
            width -= 1;
        }
        write!(f, "{sign}{units}.{fraction:0width$}")
    }
}

text_form!(Money: MoneyRefusal, or i64: Money::as_micros, |micros| Some(Money(micros)));

/// A currency: one of the codes of ISO 4217 that money is kept in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a currency must be a code of ISO 4217 in capital letters, such as EUR or USD")]
pub struct CurrencyRefusal;

impl Currency {
    pub fn parse(text: &str) -> Result<Currency, CurrencyRefusal> {
        let letters: [u8; 3] = text.as_bytes().try_into().map_err(|_| CurrencyRefusal)?;
        if CODES.binary_search(&text).is_ok() { Ok(Currency(letters)) } else { Err(CurrencyRefusal) }
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("three capital letters are UTF-8")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_form!(Currency: CurrencyRefusal, by as_str);
debug_as_text!(Currency);

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;
