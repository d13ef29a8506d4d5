//! Where an account can send, and at which price.

use crate::views::amount::Amount;
use serde::{Deserialize, Serialize};

/// All countries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationsView {
    pub currency: String,
    /// By name.
    pub items: Vec<DestinationView>,
}

/// A country.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationView {
    pub country: String,
    /// The two-letter code.
    pub code: String,
    /// Whether the operator lets the account send there.
    pub permitted: bool,
    /// Whether the customer switched it off.
    pub switched_off: bool,
    /// Its networks by operator. One without a name stands for numbers whose network is unknown.
    pub networks: Vec<NetworkPriceView>,
}

impl DestinationView {
    /// Returns the lowest and the highest price of a part now; `None` if no network has one.
    pub fn price_range(&self) -> Option<(Amount, Amount)> {
        range(self.networks.iter().filter_map(|network| network.per_part))
    }

    /// Returns the next change of a price: when, and the range from then on.
    pub fn next_range(&self) -> Option<(&str, Option<(Amount, Amount)>)> {
        let changes = self.networks.iter().filter_map(|network| network.next.as_ref());
        let first = changes.map(|next| next.from.as_str()).min()?;
        let then = self.networks.iter().filter_map(|network| match &network.next {
            Some(next) if next.from == first => next.per_part,
            _ => network.per_part,
        });
        Some((first, range(then)))
    }
}

fn range(prices: impl Iterator<Item = Amount>) -> Option<(Amount, Amount)> {
    let micros: Vec<i64> = prices.map(|price| price.0.as_micros()).collect();
    let of = |micros: i64| Amount(hermod_domain::money::Money::from_micros(micros));
    Some((of(*micros.iter().min()?), of(*micros.iter().max()?)))
}

/// The price and the coverage of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPriceView {
    /// Empty if unknown.
    pub operator: String,
    pub mcc: String,
    pub mnc: String,
    /// The price of a part now.
    pub per_part: Option<Amount>,
    pub next: Option<NextPriceView>,
    pub has_route: bool,
}

/// A price that begins later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextPriceView {
    /// `None`: no price from then on.
    pub per_part: Option<Amount>,
    pub from: String,
}
