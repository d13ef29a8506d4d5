//! How well carriers deliver: figures per day, carrier, country and network.

use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use std::time::Duration;

/// Upper ends of the ranges that delivery times are counted in. What took longer is in one more range.
pub const DELIVERY_TIMES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(3600),
];
/// Days that delivery figures are kept.
pub const DELIVERY_DAYS_KEPT: i64 = 400;
/// Rows of delivery figures that are read at once, the newest days first.
pub const DELIVERY_ROWS_MAX: u32 = 50_000;

/// What became of the parts that one carrier took on one UTC day for one network. Receipts count for the day their
/// part was taken, whenever they come, so a day's figures add up once its receipts are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    pub day: Day,
    pub carrier: CarrierId,
    /// Unknown for numbers of no country.
    pub country: Option<Country>,
    /// Unknown where it does not follow from the number.
    pub network: Option<Network>,
    pub figures: DeliveryFigures,
}

/// Counted in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFigures {
    /// Taken by the carrier.
    pub sent: u64,
    pub delivered: u64,
    pub failed: u64,
    pub expired: u64,
    pub rejected: u64,
    /// Delivered parts by the time from the carrier's answer to its receipt: within each of [`DELIVERY_TIMES`] but not
    /// the one before, and longer. Fewer than `delivered` where an earlier release did not note the time.
    pub times: [u64; DELIVERY_TIMES.len() + 1],
    /// The sum of those times.
    pub time_ms: u64,
}
