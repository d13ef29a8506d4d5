//! What a message costs: the price of a part by destination, times its parts.
//!
//! An account may have a list of its own in front of the default one. Its list decides wherever it names the
//! destination at all, by however short a prefix: whoever was promised one price for the whole of a country is not
//! charged more because the default list has a dearer entry for one network in it. Everything else falls through
//! to the default list.

use std::sync::Arc;

use crate::money::Money;
use crate::phone::Msisdn;
use crate::prefix::{DuplicatePrefix, Prefix, PrefixTable};

/// The dearest part: far above any real price, and low enough that no message's cost can overflow.
pub const PRICE_MAX: Money = Money::from_micros(1_000_000_000);

const _: () = assert!(PRICE_MAX.as_micros() < i64::MAX / 255);

/// Prices per part.
#[derive(Clone, Debug)]
pub struct PriceList {
    per_part: PrefixTable<Money>,
    /// Asked where this list has nothing to say.
    fallback: Option<Arc<PriceList>>,
}

/// Why prices do not make a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceRefusal {
    #[error(transparent)]
    Duplicate(#[from] DuplicatePrefix),
    #[error("the price {price} for prefix \"{prefix}\" is not between 0 and {PRICE_MAX}")]
    OutOfRange { prefix: Prefix, price: Money },
}

/// What one message costs, and how that came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub per_part: Money,
    pub parts: u8,
    pub cost: Money,
}

impl PriceList {
    /// The default list.
    pub fn new(prices: impl IntoIterator<Item = (Prefix, Money)>) -> Result<PriceList, PriceRefusal> {
        let prices: Vec<(Prefix, Money)> = prices.into_iter().collect();
        for (prefix, price) in &prices {
            if !(Money::ZERO..=PRICE_MAX).contains(price) {
                return Err(PriceRefusal::OutOfRange { prefix: *prefix, price: *price });
            }
        }
        Ok(PriceList { per_part: PrefixTable::build(prices)?, fallback: None })
    }

    /// An account's own list, with `fallback` for the destinations it does not name.
    #[must_use]
    pub fn over(self, fallback: Arc<PriceList>) -> PriceList {
        PriceList { fallback: Some(fallback), ..self }
    }

    /// `None` when there is no price for the destination, in which case nothing may be sent there.
    pub fn quote(&self, to: Msisdn, parts: u8) -> Option<Quote> {
        let per_part = self.per_part(to)?;
        let cost = per_part.times(parts).expect("255 parts at the dearest price fit");
        Some(Quote { per_part, parts, cost })
    }

    fn per_part(&self, to: Msisdn) -> Option<Money> {
        match (self.per_part.find(to), &self.fallback) {
            (Some(price), _) => Some(*price),
            (None, Some(fallback)) => fallback.per_part(to),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(prices: &[(&str, &str)]) -> Result<PriceList, PriceRefusal> {
        PriceList::new(
            prices
                .iter()
                .map(|(prefix, price)| (Prefix::parse(prefix).unwrap(), Money::parse(price).unwrap())),
        )
    }

    #[track_caller]
    fn check(list: &PriceList, to: &str, parts: u8, expect: Option<&str>) {
        let quote = list.quote(Msisdn::parse(to).unwrap(), parts);
        let told = quote.map(|quote| format!("{} x {} = {}", quote.parts, quote.per_part, quote.cost));
        assert_eq!(told.as_deref(), expect, "{to}");
    }

    #[test]
    fn a_message_costs_the_price_of_its_destination_times_its_parts() {
        let list = list(&[("49", "0.0375"), ("49151", "0.05"), ("1", "0")]).unwrap();
        check(&list, "+498912345678", 1, Some("1 x 0.0375 = 0.0375"));
        check(&list, "+498912345678", 3, Some("3 x 0.0375 = 0.1125"));
        check(&list, "+4915112345678", 2, Some("2 x 0.05 = 0.1"));
        check(&list, "+12025550123", 11, Some("11 x 0 = 0"));
        check(&list, "+33612345678", 1, None);
    }

    #[test]
    fn an_accounts_own_list_decides_wherever_it_names_the_destination() {
        let default = Arc::new(list(&[("49", "0.04"), ("49151", "0.08"), ("44", "0.03")]).unwrap());
        let own = list(&[("49", "0.05")]).unwrap().over(default);
        check(&own, "+498912345678", 1, Some("1 x 0.05 = 0.05"));
        check(&own, "+4915112345678", 1, Some("1 x 0.05 = 0.05"));
        check(&own, "+447700900123", 1, Some("1 x 0.03 = 0.03"));
        check(&own, "+33612345678", 1, None);
    }

    #[test]
    fn impossible_prices_are_refused() {
        let told = |prices| list(prices).unwrap_err().to_string();
        assert_eq!(told(&[("49", "1"), ("49", "2")]), "the prefix \"49\" is listed twice");
        assert_eq!(told(&[("49", "-0.01")]), "the price -0.01 for prefix \"49\" is not between 0 and 1000");
        assert_eq!(
            told(&[("", "1000.000001")]),
            "the price 1000.000001 for prefix \"\" is not between 0 and 1000"
        );
        let dearest = list(&[("49", "1000")]).unwrap();
        check(&dearest, "+498912345678", 255, Some("255 x 1000 = 255000"));
    }
}
