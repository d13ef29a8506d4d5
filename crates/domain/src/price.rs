//! The charge for a message: the price per part for its destination, times its parts.
//!
//! An account's own prices take precedence over those of its price list, or over the general ones if it has no list, for
//! every destination that they cover, even by a shorter prefix: a customer with one price for a whole country does not pay more
//! because the list has a higher one for a network in it.

use std::sync::Arc;

use crate::area::{Area, AreaTable};
use crate::dated::{Dated, VersionRefusal, Versions};
use crate::ids::PriceListId;
use crate::money::Money;
use crate::numbers::Destination;
use crate::phone::Msisdn;
use crate::time::Timestamp;

/// The highest price per part: far above any real one, and low enough that no message's cost overflows.
pub const PRICE_MAX: Money = Money::from_micros(1_000_000_000);

const _: () = assert!(PRICE_MAX.as_micros() < i64::MAX / 255);

/// A price per part; `None` closes a destination, also where a broader area has a price.
pub type PerPart = Option<Money>;

/// Who the prices of a table are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PriceOwner {
    /// Accounts without a price list.
    #[default]
    General,
    /// Accounts that name this price list.
    List(PriceListId),
    Account,
}

/// The prices of an account, or those behind them.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    owner: PriceOwner,
    table: AreaTable<Versions<PerPart>>,
    /// Used for destinations that this table does not cover.
    fallback: Option<Arc<Prices>>,
}

/// Why prices are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceRefusal {
    #[error("there are two prices for {area} from the same time on")]
    Duplicate { area: Area },
    #[error("the price for {area} ends before it begins")]
    Empty { area: Area },
    #[error("the price {price} for {area} is not between 0 and {PRICE_MAX}")]
    OutOfRange { area: Area, price: Money },
}

/// The price that applies to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPrice<'a> {
    pub owner: PriceOwner,
    pub area: Area,
    pub price: &'a Dated<PerPart>,
}

impl Prices {
    pub fn new(
        owner: PriceOwner,
        prices: impl IntoIterator<Item = (Area, Dated<PerPart>)>,
    ) -> Result<Prices, PriceRefusal> {
        Ok(Prices { owner, table: AreaTable::collect(prices, add)?, fallback: None })
    }

    /// Uses `fallback` for destinations that these prices do not cover.
    #[must_use]
    pub fn over(self, fallback: Arc<Prices>) -> Prices {
        Prices { fallback: Some(fallback), ..self }
    }

    /// Returns the charge for a message; `None` without a price for the destination, to which nothing may be sent then.
    pub fn cost(&self, to: Msisdn, destination: &Destination<'_>, at: Timestamp, parts: u8) -> Option<Money> {
        let per_part = self.find(to, destination, at)?.price.value?;
        Some(per_part.times(parts).expect("255 parts at the highest price fit"))
    }

    /// Returns every price of these and of those behind them, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (Area, &Dated<PerPart>)> {
        std::iter::successors(Some(self), |prices| prices.fallback.as_deref()).flat_map(|prices| {
            let areas = prices.table.entries();
            areas.flat_map(|(area, versions)| versions.iter().map(move |price| (area, price)))
        })
    }

    /// Returns the price that applies at a time, which may be closed.
    pub fn find(&self, to: Msisdn, destination: &Destination<'_>, at: Timestamp) -> Option<FoundPrice<'_>> {
        let mut covering = self.table.covering(to, destination);
        let found = covering.find_map(|(area, versions)| Some((area, versions.in_force(at)?)));
        match found {
            Some((area, price)) => Some(FoundPrice { owner: self.owner, area, price }),
            None => self.fallback.as_ref()?.find(to, destination, at),
        }
    }
}

fn add(versions: &mut Versions<PerPart>, area: Area, price: Dated<PerPart>) -> Result<(), PriceRefusal> {
    if let Some(price) = price.value.filter(|price| !(Money::ZERO..=PRICE_MAX).contains(price)) {
        return Err(PriceRefusal::OutOfRange { area, price });
    }
    versions.add(price).map_err(|refusal| match refusal {
        VersionRefusal::SameStart => PriceRefusal::Duplicate { area },
        VersionRefusal::Empty => PriceRefusal::Empty { area },
    })
}

#[cfg(test)]
#[path = "price_tests.rs"]
mod tests;
