//! The margin that a carrier must leave: a share of the price, or an amount for each part.

use crate::money::Money;
use crate::price::PRICE_MAX;
use std::fmt;

/// Millionths of a percent in the whole price.
const WHOLE: i64 = 100_000_000;
/// Selling for an eleventh of the cost is as much as any promotion loses.
const LOWEST: i64 = -10 * WHOLE;

/// What must remain of the price of a message after the cost of its carrier. Below zero: what may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Margin {
    /// A share of the price, in millionths of a percent.
    Share(i64),
    /// An amount for each part that the carrier counts, in the currency of the account.
    PerPart(Money),
}

/// Why a text is not a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a margin is a share of the price such as \"5%\", from -1000% to 100%, or an amount per part such as \"0.002\", from \
     -{PRICE_MAX} to {PRICE_MAX}; with at most 6 decimals"
)]
pub struct MarginRefusal;

impl Margin {
    pub fn parse(text: &str) -> Result<Margin, MarginRefusal> {
        let decimal = |text: &str| Money::parse(text).map_err(|_| MarginRefusal);
        if let Some(share) = text.strip_suffix('%') {
            let share = decimal(share.trim_end())?.as_micros();
            return if (LOWEST..=WHOLE).contains(&share) {
                Ok(Margin::Share(share))
            } else {
                Err(MarginRefusal)
            };
        }
        let amount = decimal(text)?;
        let lowest = Money::from_micros(-PRICE_MAX.as_micros());
        if (lowest..=PRICE_MAX).contains(&amount) { Ok(Margin::PerPart(amount)) } else { Err(MarginRefusal) }
    }

    /// Whether a carrier that asks `cost` for a message and counts `parts` leaves this much of its price.
    pub fn is_kept(self, price: Money, cost: Money, parts: u8) -> bool {
        let wide = |amount: Money| i128::from(amount.as_micros());
        let left = wide(price) - wide(cost);
        match self {
            Margin::Share(share) => left * i128::from(WHOLE) >= wide(price) * i128::from(share),
            Margin::PerPart(amount) => left >= wide(amount) * i128::from(parts),
        }
    }
}

/// `5%` or `0.002`.
impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Margin::Share(share) => write!(f, "{}%", Money::from_micros(*share)),
            Margin::PerPart(amount) => write!(f, "{amount}"),
        }
    }
}

text_form!(Margin: MarginRefusal);

#[cfg(test)]
#[path = "margin_tests.rs"]
mod tests;
