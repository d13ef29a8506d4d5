//! How many parts of concatenated MO messages wait for other parts, and since when.

use crate::maps::HashMap;
use crate::ops::{CONCATENATION_WAIT, UNFINISHED_PARTS_PER_CARRIER_MAX};
use crate::tables::{TableError, Tables};
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;

/// Waiting parts per carrier, and the start of the longest wait.
pub struct MoPartCounts {
    parts: HashMap<CarrierId, u64>,
    oldest: Option<Timestamp>,
    limit: u64,
}

impl MoPartCounts {
    pub fn load(tables: &Tables<'_>) -> Result<MoPartCounts, TableError> {
        let parts = tables.read()?.unfinished_parts()?.into_iter().collect();
        let oldest = tables.read()?.oldest_unfinished_since()?;
        Ok(MoPartCounts { parts, oldest, limit: UNFINISHED_PARTS_PER_CARRIER_MAX })
    }

    /// Returns when the next incomplete message must be delivered.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.oldest.map(|since| since.plus(CONCATENATION_WAIT))
    }

    /// Returns the waiting parts of each carrier that has some, in order.
    pub fn rows(&self) -> Vec<(CarrierId, u64)> {
        let mut rows: Vec<_> = self
            .parts
            .iter()
            .map(|(carrier, parts)| (*carrier, *parts))
            .filter(|(_, parts)| *parts > 0)
            .collect();
        rows.sort_unstable();
        rows
    }

    /// Whether a carrier has the most waiting parts that are allowed.
    pub fn is_full(&self, carrier: CarrierId) -> bool {
        self.parts.get(&carrier).is_some_and(|parts| *parts >= self.limit)
    }

    pub fn added(&mut self, carrier: CarrierId, since: Timestamp) {
        *self.parts.entry(carrier).or_default() += 1;
        self.oldest = Some(self.oldest.map_or(since, |oldest| oldest.min(since)));
    }

    pub fn removed(&mut self, carrier: CarrierId, parts: u64) {
        if let Some(count) = self.parts.get_mut(&carrier) {
            *count = count.saturating_sub(parts);
        }
    }

    /// Sets since when the oldest message waits, after those whose wait was over were delivered.
    pub fn delivered_due(&mut self, oldest: Option<Timestamp>) {
        self.oldest = oldest;
    }
}
