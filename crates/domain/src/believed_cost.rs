//! What a carrier was believed to ask for a message when it got the message, and what of that is due.

use crate::cost::{CostBasis, CostTerms};
use crate::ids::CostId;
use crate::lifecycle::Billable;
use crate::money::{Currency, Money};
use serde::{Deserialize, Serialize};

/// The cost of a message at its carrier, as it was believed when the message was given to the queue of that carrier. Later changes of
/// costs do not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(Money, i64)", try_from = "(Money, i64)")]
pub struct BelievedCost {
    pub terms: CostTerms,
    /// The carrier splits the message: one `submit_sm` has all of its parts.
    pub whole: bool,
}

/// A stored number that does not say the terms of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} does not say the terms of a cost")]
pub struct UnknownTerms(pub i64);

/// Letters of a currency.
const LETTERS: i64 = 26;
const LETTER_BITS: u32 = 15;
/// The bits of the basis and of `whole` are below the currency, and the entry is above it.
const ENTRY_SHIFT: u32 = LETTER_BITS + 2;

const _: () = assert!(LETTERS * LETTERS * LETTERS <= 1 << LETTER_BITS);
const _: () = assert!(ENTRY_SHIFT + u32::BITS < i64::BITS);

impl BelievedCost {
    /// Returns how many parts are due of a message that has this many, resends included.
    pub fn due_parts(&self, billable: Billable, parts: u8) -> u32 {
        let count = match self.terms.basis {
            CostBasis::Submit => billable.submitted,
            CostBasis::Delivered => billable.delivered,
        };
        u32::from(count) * if self.whole { u32::from(parts) } else { 1 }
    }

    /// Returns what is due for a message of this many parts.
    pub fn due(&self, billable: Billable, parts: u8) -> Money {
        let due_parts = i64::from(self.due_parts(billable, parts));
        // A cost is at most `PRICE_MAX`, so this is no overflow.
        Money::from_micros(self.terms.per_part.as_micros().saturating_mul(due_parts))
    }

    /// Returns the terms as one number: the entry, the currency, `whole` and the basis. It has 31 bits for the first 16,383 entries,
    /// and 47 bits for the first billion.
    pub fn packed_terms(&self) -> i64 {
        let CostTerms { per_part: _, currency, basis, entry } = self.terms;
        let letters =
            currency.as_str().bytes().fold(0, |sum, letter| sum * LETTERS + i64::from(letter - b'A'));
        let basis = match basis {
            CostBasis::Submit => 0,
            CostBasis::Delivered => 1,
        };
        i64::from(entry.get()) << ENTRY_SHIFT | letters << 2 | i64::from(self.whole) << 1 | basis
    }

    /// Returns the cost with these terms; fails if the number is not one of [`BelievedCost::packed_terms`].
    pub fn unpack(per_part: Money, terms: i64) -> Result<BelievedCost, UnknownTerms> {
        let letters = terms >> 2 & ((1 << LETTER_BITS) - 1);
        let letter =
            |number: i64| u8::try_from(number % LETTERS).ok().map(|letter| char::from(b'A' + letter));
        let read = || {
            let code = [letters / (LETTERS * LETTERS), letters / LETTERS, letters].map(letter);
            let code: Option<String> = code.into_iter().collect();
            let currency = Currency::parse(&code?).ok()?;
            let entry = CostId::new(u32::try_from(terms >> ENTRY_SHIFT).ok()?);
            let basis = if terms & 1 == 0 { CostBasis::Submit } else { CostBasis::Delivered };
            let terms_read = CostTerms { per_part, currency, basis, entry };
            let cost = BelievedCost { terms: terms_read, whole: terms & 2 != 0 };
            (!per_part.is_negative() && cost.packed_terms() == terms).then_some(cost)
        };
        read().ok_or(UnknownTerms(terms))
    }
}

impl From<BelievedCost> for (Money, i64) {
    fn from(cost: BelievedCost) -> (Money, i64) {
        (cost.terms.per_part, cost.packed_terms())
    }
}

impl TryFrom<(Money, i64)> for BelievedCost {
    type Error = UnknownTerms;

    fn try_from((per_part, terms): (Money, i64)) -> Result<BelievedCost, UnknownTerms> {
        BelievedCost::unpack(per_part, terms)
    }
}

#[cfg(test)]
#[path = "believed_cost_tests.rs"]
mod tests;
