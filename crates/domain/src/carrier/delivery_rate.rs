//! How much of what carriers accept they deliver, by country.

use crate::ids::CarrierId;
use crate::money::Money;
use crate::numbers::Country;
use std::collections::HashMap;

/// Parts with a final receipt from which a rate is known. With fewer, a few bad numbers would decide.
pub const REPORTS_MIN: u64 = 100;
const WHOLE: u16 = 1_000;
/// The step in which rates are compared: within 5 percentage points carriers count as equally good.
const STEP: u16 = 50;

/// The delivered share of the parts with a final receipt, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryRate(u16);

impl DeliveryRate {
    /// Returns the rate, rounded down; `None` with fewer than [`REPORTS_MIN`] final receipts.
    pub fn new(delivered: u64, ended: u64) -> Option<DeliveryRate> {
        if ended < REPORTS_MIN {
            return None;
        }
        let rate = delivered.min(ended).saturating_mul(u64::from(WHOLE)) / ended;
        u16::try_from(rate).ok().map(DeliveryRate)
    }

    /// Returns how many steps of 5 percentage points it is below 100 %. An unknown rate counts as the best.
    pub const fn steps_below_best(self) -> u16 {
        (WHOLE - self.0) / STEP
    }

    /// Returns this share of an amount, rounded down.
    pub fn share_of(self, amount: Money) -> Money {
        let share = i128::from(amount.as_micros()) * i128::from(self.0) / i128::from(WHOLE);
        Money::from_micros(i64::try_from(share).expect("a share is not more than the whole"))
    }
}

/// The delivery rates that are known. A country is `None` for numbers of no country.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRates(HashMap<(CarrierId, Option<Country>), DeliveryRate>);

impl DeliveryRates {
    /// Collects the rates from numbers of parts: carrier, country, delivered, with a final receipt. Several of one carrier and
    /// country are added.
    pub fn collect(
        counts: impl IntoIterator<Item = (CarrierId, Option<Country>, u64, u64)>,
    ) -> DeliveryRates {
        let mut sums: HashMap<(CarrierId, Option<Country>), (u64, u64)> = HashMap::new();
        for (carrier, country, delivered, ended) in counts {
            let sum = sums.entry((carrier, country)).or_default();
            sum.0 = sum.0.saturating_add(delivered);
            sum.1 = sum.1.saturating_add(ended);
        }
        let rates = sums.into_iter().filter_map(|(of, (delivered, ended))| {
            DeliveryRate::new(delivered, ended).map(|rate| (of, rate))
        });
        DeliveryRates(rates.collect())
    }

    pub fn find(&self, carrier: CarrierId, country: Option<Country>) -> Option<DeliveryRate> {
        self.0.get(&(carrier, country)).copied()
    }
}

#[cfg(test)]
#[path = "delivery_rate_tests.rs"]
mod tests;
