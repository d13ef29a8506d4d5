//! Reading on from the tables: what is behind everything that is in memory, in order; and from time to time a look at
//! the overflow: reports that have to wait and that memory had no room for.

use super::entry::{Entry, is_open_ended};
use super::refill::{Overflow, Reading, Refill};
use super::state::Outbox;
use crate::ops::ReportId;
use crate::tables::ReportPage;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Rows read at once.
const REFILL_ROWS: usize = 1_024;
/// However much the other outboxes hold, nobody gets fewer.
const REFILL_ROWS_MIN: usize = 64;
/// Rows of the overflow read at once. Few: what is new does not wait for it.
pub(super) const OVERFLOW_ROWS: usize = 256;
/// How long until the next look at the overflow.
const OVERFLOW_PAUSE: Duration = Duration::from_secs(30);

impl Outbox {
    pub(super) fn put_overflow(&mut self, id: ReportId, due: Timestamp) {
        let after = ReportId(id.0.saturating_sub(1));
        let Overflow { after: first, at } = self.overflow.unwrap_or(Overflow { after, at: due });
        self.overflow = Some(Overflow { after: first.min(after), at: at.min(due) });
    }

    /// Has a port look at the overflow once it is due. Without a port it counts as unread, and the next one reads it.
    pub(super) fn release_overflow(&mut self, now: Timestamp) {
        if self.ports.is_empty() {
            return self.unread_overflow();
        }
        self.is_overflow_due = self.overflow.is_some_and(|overflow| overflow.at <= now);
    }

    pub(super) fn unread_overflow(&mut self) {
        self.is_overflow_due = false;
        if let Some(Overflow { after, .. }) = self.overflow.take() {
            self.unread(ReportId(after.0 + 1));
        }
    }

    /// From this report on everything that is not in memory is in the tables, and only there.
    pub(super) fn unread(&mut self, from: ReportId) {
        let before = ReportId(from.0.saturating_sub(1));
        if before < self.read_to {
            self.stored_to = self.stored_to.max(self.read_to);
            self.read_to = before;
        }
    }

    pub(super) fn begin_reading(&mut self, room_in_all: usize) -> Option<Refill> {
        self.is_crowded = room_in_all == 0;
        let (after, until) = (self.read_to, self.stored_to);
        let refill = if self.can_read() {
            let limit = REFILL_ROWS.min(self.room()).min(room_in_all.max(REFILL_ROWS_MIN));
            Refill { after, until, limit, is_overflow: false }
        } else if self.can_read_overflow() {
            // What is new went first.
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
        // Where there is no room for all, nobody goes on before the writer has what was answered.
        let may = !self.is_crowded || self.unwritten.is_empty();
        may && self.stored_to > self.read_to && self.reading == Reading::Idle && self.room() > 0
    }

    /// Takes in what was read. Fewer rows than asked for mean that there are no more up to [`Refill::until`].
    pub fn refill(&mut self, refill: Refill, page: ReportPage, now: Timestamp) {
        if self.ports.is_empty() {
            // Everybody left meanwhile, and what was read is not wanted.
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
            if !self.knows(report.id) {
                self.ready.insert(report.id, Entry::new(report));
            }
        }
    }

    /// The next look is a while later, and from where this one ended.
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
            if id > self.read_to || self.knows(id) {
                continue;
            }
            let wants = |end: &ReportStatus| {
                report.dlr().is_some_and(|news| news.origin.registered_delivery.asks_for(*end))
            };
            if is_open_ended(&report) && page.ended.get(&id).is_some_and(wants) {
                // Its message has ended since, and that is told by itself.
                self.supersede(id);
                continue;
            }
            self.ready.insert(id, Entry::new(report));
        }
    }

    /// The read has ended, with or without rows.
    pub fn read_ended(&mut self) {
        if self.reading == Reading::Underway {
            self.reading = Reading::Idle;
        }
        self.unwritten.read_ended();
    }

    /// The read has failed. None is begun until [`Outbox::read_again`].
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
