//! Counts how carriers deliver, as responses and receipts arrive. Counts are collected in memory and written every few
//! seconds. A crash loses the last seconds of figures, and nothing else.

use crate::maps::HashMap;
use crate::ops::{DELIVERY_DAYS_KEPT, DELIVERY_TIMES, DeliveryFigures, DeliveryRow, ReceiptLoss};
use crate::tables::{DeliveryCell, IdAssignment, RowChange, TableError, Tables};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use std::time::Duration;

/// How long counts are collected before they are written.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Rows that are collected at most; more are written at once.
pub const CELLS_MAX: usize = 20_000;

/// Returns the row that a part is counted in.
fn cell_of(day: Day, carrier: CarrierId, to: Option<Msisdn>) -> DeliveryCell {
    let Destination { country, network, .. } =
        to.map_or(Destination::UNKNOWN, |to| Numbers::embedded().find(to));
    DeliveryCell { day, carrier, country, network }
}

/// What happened to a part.
#[derive(Clone, Copy, Debug)]
enum Counted {
    Sent,
    /// With the time from response to receipt.
    Delivered(Duration),
    Failed,
    Expired,
    Rejected,
}

#[derive(Default)]
pub struct DeliveryStats {
    /// Counts of committed batches that are not written yet.
    gathered: HashMap<DeliveryCell, DeliveryFigures>,
    /// When the first of those was counted.
    since: Option<Timestamp>,
    /// Counts of this batch. They are collected after its commit.
    counted: Vec<(DeliveryCell, Counted)>,
    /// This batch writes what was collected.
    written: bool,
}

impl DeliveryStats {
    /// Counts a part that a carrier accepted.
    pub fn sent(&mut self, carrier: CarrierId, to: Msisdn, day: Day) {
        self.counted.push((cell_of(day, carrier, Some(to)), Counted::Sent));
    }

    /// Counts a part that a receipt changed.
    pub fn settled(
        &mut self,
        carrier: CarrierId,
        assignment: &IdAssignment,
        verdict: DeliveryOutcome,
        at: Timestamp,
    ) {
        let counted = match verdict {
            DeliveryOutcome::Delivered => Counted::Delivered(at.since(assignment.at)),
            DeliveryOutcome::Undeliverable => Counted::Failed,
            DeliveryOutcome::Expired => Counted::Expired,
            DeliveryOutcome::Rejected => Counted::Rejected,
            DeliveryOutcome::Enroute | DeliveryOutcome::Accepted | DeliveryOutcome::NoChange => return,
        };
        self.counted.push((cell_of(assignment.day, carrier, assignment.to), counted));
    }

    /// Returns when the collected counts must be written.
    pub fn due_at(&self) -> Option<Timestamp> {
        if self.gathered.len() > CELLS_MAX { self.since } else { self.since.map(|at| at.plus(WRITE_EVERY)) }
    }

    pub fn is_empty(&self) -> bool {
        self.gathered.is_empty()
    }

    /// Writes the collected counts if it is time.
    pub fn write_if_due(&mut self, tables: &Tables<'_>, now: Timestamp) -> Result<(), TableError> {
        if self.due_at().is_some_and(|due_at| due_at <= now) { self.write(tables) } else { Ok(()) }
    }

    /// Adds the collected counts to the rows.
    pub fn write(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        for (cell, figures) in &self.gathered {
            let mut sum = tables.read()?.delivery_figures(cell)?.unwrap_or_default();
            add(&mut sum, figures);
            tables.write(RowChange::Put(cell.with(sum)));
        }
        self.written = true;
        Ok(())
    }

    pub fn committed(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.written) {
            self.gathered.clear();
            self.since = None;
        }
        for (cell, counted) in self.counted.drain(..) {
            count(self.gathered.entry(cell).or_default(), counted);
            self.since.get_or_insert(now);
        }
    }

    pub fn rolled_back(&mut self) {
        self.written = false;
        self.counted.clear();
    }
}

fn count(figures: &mut DeliveryFigures, counted: Counted) {
    match counted {
        Counted::Sent => figures.sent += 1,
        Counted::Failed => figures.failed += 1,
        Counted::Expired => figures.expired += 1,
        Counted::Rejected => figures.rejected += 1,
        Counted::Delivered(time) => {
            figures.delivered += 1;
            let range = DELIVERY_TIMES.partition_point(|end| *end < time);
            if let Some(count) = figures.times.get_mut(range) {
                *count += 1;
            }
            figures.time_ms += u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        }
    }
}

fn add(sum: &mut DeliveryFigures, figures: &DeliveryFigures) {
    let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = figures;
    sum.sent += sent;
    sum.delivered += delivered;
    sum.failed += failed;
    sum.expired += expired;
    sum.rejected += rejected;
    for (sum, count) in sum.times.iter_mut().zip(times) {
        *sum += count;
    }
    sum.time_ms = sum.time_ms.saturating_add(*time_ms);
}

/// Deletes figures that are older than they are kept.
pub fn drop_before(tables: &Tables<'_>, today: Day) {
    let oldest = Day::new(today.get() - DELIVERY_DAYS_KEPT);
    let older = || [("day", i64::MIN..=oldest.get() - 1)];
    tables.write(RowChange::<DeliveryRow>::delete_in(older()));
    tables.write(RowChange::<ReceiptLoss>::delete_in(older()));
}
