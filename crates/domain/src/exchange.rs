//! Exchange rates: what one unit of a currency is worth in another, by date, as the operator says.

use crate::dated::{Dated, VersionRefusal, Versions};
use crate::money::{Currency, Money};
use crate::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Six decimals would be too few: a rupiah is 0.00006 dollars.
const DECIMALS: usize = 10;
const UNIT: u64 = 10_000_000_000;

/// A rate with at most ten decimals, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExchangeRate(u64);

/// Why a text is not a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an exchange rate must be a number above 0, below 1000000000, with at most {DECIMALS} decimals, such as 0.9214"
)]
pub struct RateRefusal;

/// The rate between two currencies: one unit of `base` is worth `rate` of `quote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CurrencyPair {
    pub base: Currency,
    pub quote: Currency,
}

/// Why rates are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeRefusal {
    #[error("there are two rates of {0} from the same time on")]
    Duplicate(CurrencyPair),
    #[error("the rate of {0} is between a currency and itself")]
    SameCurrency(CurrencyPair),
}

#[derive(Clone, Debug, Default)]
pub struct ExchangeRates(HashMap<CurrencyPair, Versions<ExchangeRate>>);

impl ExchangeRate {
    pub fn parse(text: &str) -> Result<ExchangeRate, RateRefusal> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(RateRefusal),
            Some(halves) => halves,
            None => (text, ""),
        };
        let is_valid = (1..=9).contains(&whole.len())
            && fraction.len() <= DECIMALS
            && whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
        if !is_valid {
            return Err(RateRefusal);
        }
        let units: u64 = format!("{whole}{fraction:0<DECIMALS$}").parse().map_err(|_| RateRefusal)?;
        if units == 0 { Err(RateRefusal) } else { Ok(ExchangeRate(units)) }
    }
}

impl fmt::Display for ExchangeRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / UNIT, self.0 % UNIT);
        let fraction = format!("{fraction:0DECIMALS$}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            fraction => write!(f, "{whole}.{fraction}"),
        }
    }
}

impl FromStr for ExchangeRate {
    type Err = RateRefusal;

    fn from_str(text: &str) -> Result<ExchangeRate, RateRefusal> {
        ExchangeRate::parse(text)
    }
}

impl Serialize for ExchangeRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ExchangeRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExchangeRate, D::Error> {
        let text = String::deserialize(deserializer)?;
        ExchangeRate::parse(&text).map_err(de::Error::custom)
    }
}

/// As it is written: `USD-EUR`.
impl fmt::Display for CurrencyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.base, self.quote)
    }
}

impl ExchangeRates {
    pub fn build(
        rates: impl IntoIterator<Item = (CurrencyPair, Timestamp, ExchangeRate)>,
    ) -> Result<ExchangeRates, ExchangeRefusal> {
        let mut pairs: HashMap<CurrencyPair, Versions<ExchangeRate>> = HashMap::new();
        for (pair, from, value) in rates {
            if pair.base == pair.quote {
                return Err(ExchangeRefusal::SameCurrency(pair));
            }
            let dated = Dated { from, until: None, value };
            pairs.entry(pair).or_default().add(dated).map_err(|refusal| match refusal {
                VersionRefusal::SameStart | VersionRefusal::Empty => ExchangeRefusal::Duplicate(pair),
            })?;
        }
        Ok(ExchangeRates(pairs))
    }

    /// Converts an amount at the rate of a time, by the rate of the pair or else by that of the reverse pair. Rounds to the nearest
    /// millionth, halves away from zero. `None` without a rate, or if the result is too large.
    pub fn convert(&self, amount: Money, from: Currency, to: Currency, at: Timestamp) -> Option<Money> {
        if from == to {
            return Some(amount);
        }
        let rate = |base, quote| {
            let rate = self.0.get(&CurrencyPair { base, quote })?.in_force(at)?;
            Some(i128::from(rate.value.0))
        };
        let (unit, micros) = (i128::from(UNIT), i128::from(amount.as_micros()));
        let (numerator, denominator) = match rate(from, to) {
            Some(rate) => (micros * rate, unit),
            None => (micros * unit, rate(to, from)?),
        };
        let half = denominator / 2 * numerator.signum();
        i64::try_from((numerator + half) / denominator).ok().map(Money::from_micros)
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
