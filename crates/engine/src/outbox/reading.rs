//! Reads reports from the tables: those behind everything in memory, in order; and from time to time the overflow,
//! deferred reports for which memory had no room.

use super::Outbox;
use super::entry::{Entry, is_open_ended};
use super::read_state::{Overflow, Reading, Refill};
use crate::ops::ReportId;
use crate::tables::ReportPage;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows that one read returns.
const REFILL_ROWS: usize = 1_024;
/// Rows that one read returns at least, also while other outboxes use the memory.
const REFILL_ROWS_MIN: usize = 64;
/// Rows of the overflow that one read returns. Few, so that new reports do not wait for it.
pub(super) const OVERFLOW_ROWS: usize = 256;
/// The pause between two reads of the overflow.
const OVERFLOW_PAUSE: Duration = Duration::from_secs(30);

impl Outbox {
    /// Leaves a deferred report to the tables.
    pub(super) fn put_overflow(&mut self, id: ReportId, due: Timestamp) {
        let after = ReportId(id.0.saturating_sub(1));
        let Overflow { after: first, at } = self.overflow.unwrap_or(Overflow { after, at: due });
        self.overflow = Some(Overflow { after: first.min(after), at: at.min(due) });
    }

    /// Lets a port read the overflow once it is due. Without a port it counts as unread, and the next port reads it.
    pub(super) fn release_overflow(&mut self, now: Timestamp) {
        if self.ports.is_empty() {
            return self.unread_overflow();
        }
        self.is_overflow_due = self.overflow.is_some_and(|overflow| overflow.at <= now);
    }

    /// Treats the overflow like reports that were never read.
    pub(super) fn unread_overflow(&mut self) {
        self.is_overflow_due = false;
        if let Some(Overflow { after, .. }) = self.overflow.take() {
            self.unread(ReportId(after.0 + 1));
        }
    }

    /// Notes that from this report on everything that is not in memory must be read from the tables.
    pub(super) fn unread(&mut self, from: ReportId) {
        let before = ReportId(from.0.saturating_sub(1));
        if before < self.read_to {
            self.stored_to = self.stored_to.max(self.read_to);
            self.read_to = before;
        }
    }

    /// Returns the next read, if one is needed and allowed now.
    pub(super) fn begin_reading(&mut self, room_in_all: usize) -> Option<Refill> {
        self.is_crowded = room_in_all == 0;
        let (after, until) = (self.read_to, self.stored_to);
        let refill = if self.can_read() {
            let limit = REFILL_ROWS.min(self.room()).min(room_in_all.max(REFILL_ROWS_MIN));
            Refill { after, until, limit, is_overflow: false }
        } else if self.can_read_overflow() {
            // New reports come first.
            let after = self.overflow?.after;
            Refill { after, until, limit: OVERFLOW_ROWS.min(self.room()), is_overflow: true }
        } else {
            return None;
        };
        self.reading = Reading::Underway;
        Some(refill)
    }

    pub(super) fn can_read_overflow(&self) -> bool {
        self.is_overflow_due && self.reading == Reading::Idle && self.room() > 0
    }

    pub(super) fn can_read(&self) -> bool {
        // If memory is short, answered reports must be written before more are read.
        let may = !self.is_crowded || self.unwritten.is_empty();
        may && self.stored_to > self.read_to && self.reading == Reading::Idle && self.room() > 0
    }

    /// Adds the reports of a page. Fewer rows than the limit mean that there are no more up to [`Refill::until`].
    pub fn refill(&mut self, refill: Refill, page: ReportPage, now: Timestamp) {
        if self.ports.is_empty() {
            // All ports have closed meanwhile.
            return;
        }
        if refill.is_overflow {
            return self.refill_overflow(refill, page, now);
        }
        if self.read_to != refill.after {
            return;
        }
        let last = page.last.unwrap_or(refill.after);
        self.read_to = if page.rows < refill.limit { last.max(refill.until) } else { last };
        for report in page.reports {
            if !self.has(report.id) {
                self.ready.insert(report.id, Entry::new(report));
            }
        }
    }

    /// Adds the overflow's reports of a page. The next read of the overflow follows after a pause, behind this page.
    fn refill_overflow(&mut self, refill: Refill, page: ReportPage, now: Timestamp) {
        let at = now.plus(OVERFLOW_PAUSE);
        self.is_overflow_due = false;
        self.overflow = match (self.overflow, page.last) {
            // A report before these overflowed meanwhile.
            (Some(overflow), _) if overflow.after < refill.after => Some(overflow),
            (_, Some(after)) if page.rows == refill.limit && after < self.read_to => {
                Some(Overflow { after, at })
            }
            _ => None,
        };
        for report in page.reports {
            let id = report.id;
            if id > self.read_to || self.has(id) {
                continue;
            }
            let wants = |end: &ReportStatus| {
                report.dlr().is_some_and(|dlr| dlr.origin.registered_delivery.asks_for(*end))
            };
            if is_open_ended(&report) && page.ended.get(&id).is_some_and(wants) {
                // Its message has ended since, and its final report follows by itself.
                self.supersede(id);
                continue;
            }
            self.ready.insert(id, Entry::new(report));
        }
    }

    /// Notes that the read has ended, with or without rows.
    pub fn read_ended(&mut self) {
        if self.reading == Reading::Underway {
            self.reading = Reading::Idle;
        }
        self.unwritten.read_ended();
    }

    /// Notes that the read has failed. None is started until [`Outbox::read_again`].
    pub fn read_failed(&mut self) {
        self.reading = Reading::Paused;
    }

    /// Allows reads again after one has failed.
    pub fn read_again(&mut self) {
        if self.reading == Reading::Paused {
            self.reading = Reading::Idle;
        }
    }
}
