//! Delivery figures of carriers, per day, country and network.

use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Upper ends of the ranges in which delivery times are counted. One more range counts longer times.
pub const DELIVERY_TIMES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(3600),
];
/// Days for which delivery figures are kept.
pub const DELIVERY_DAYS_KEPT: i64 = 400;
/// Rows of delivery figures that one read returns, the newest days first.
pub const DELIVERY_ROWS_MAX: u32 = 50_000;

/// What became of the parts that one carrier accepted on one UTC day for one network. A receipt counts for the day on
/// which its part was accepted, so a day's figures are complete once its receipts have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRow {
    pub day: Day,
    pub carrier: CarrierId,
    /// None if the number belongs to no country.
    pub country: Option<Country>,
    /// None if the number does not tell the network.
    pub network: Option<Network>,
    pub figures: DeliveryFigures,
}

/// Numbers of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryFigures {
    /// Accepted by the carrier.
    pub sent: u64,
    pub delivered: u64,
    pub failed: u64,
    pub expired: u64,
    pub rejected: u64,
    /// Delivered parts by the time from the carrier's response to its receipt, in the ranges of [`DELIVERY_TIMES`].
    pub times: [u64; DELIVERY_TIMES.len() + 1],
    /// The sum of those times.
    pub time_ms: u64,
}
