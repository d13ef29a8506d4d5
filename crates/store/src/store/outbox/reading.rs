//! Reading on from the tables: what is behind everything that is in memory, in order; and from time to time a look at
//! what was put aside because it had to wait and there was no room for it.

use crate::store::outbox::state::{Entry, State, is_open_ended};
use hermod_domain::origin::Told;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{REPORTS_IN_MEMORY_MAX, ReportId};
use hermod_engine::tables::ReportPage;
use std::time::Duration;

/// Rows read at once.
const REFILL_ROWS: usize = 1_024;
/// However much the other outboxes hold, nobody gets fewer.
const REFILL_ROWS_MIN: usize = 64;
/// Rows looked at at once for what was put aside. Few: what is new does not wait for it.
pub(super) const ASIDE_ROWS: usize = 256;
/// How long until the next look at what was put aside.
const ASIDE_PAUSE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Idle,
    Underway,
    /// The last one failed.
    Paused,
}

/// Where to look for what was put aside, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aside {
    after: ReportId,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refill {
    pub after: ReportId,
    /// Rows up to here are there to be seen.
    until: ReportId,
    pub limit: usize,
    is_aside: bool,
}

impl State {
    pub(super) fn put_aside(&mut self, id: ReportId, due: Timestamp) {
        let after = ReportId(id.0.saturating_sub(1));
        let Aside { after: first, at } = self.aside.unwrap_or(Aside { after, at: due });
        self.aside = Some(Aside { after: first.min(after), at: at.min(due) });
    }

    /// Somebody should look at what was put aside, or nobody can and whoever comes reads it.
    pub(super) fn release_aside(&mut self, now: Timestamp) {
        if self.ports.is_empty() {
            return self.unread_aside();
        }
        self.is_aside_due = self.aside.is_some_and(|aside| aside.at <= now);
    }

    pub(super) fn unread_aside(&mut self) {
        self.is_aside_due = false;
        if let Some(Aside { after, .. }) = self.aside.take() {
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
            Refill { after, until, limit, is_aside: false }
        } else if self.can_look_aside() {
            // What is new went first.
            let after = self.aside?.after;
            Refill { after, until, limit: ASIDE_ROWS.min(self.room()), is_aside: true }
        } else {
            return None;
        };
        self.reading = Reading::Underway;
        Some(refill)
    }

    pub(super) fn can_look_aside(&self) -> bool {
        self.is_aside_due && self.reading == Reading::Idle && self.room() > 0
    }

    fn room(&self) -> usize {
        REPORTS_IN_MEMORY_MAX.saturating_sub(self.in_memory())
    }

    pub(super) fn can_read(&self) -> bool {
        // Where there is no room for all, nobody goes on before the writer has what was answered.
        let may = !self.is_crowded || self.unwritten.is_empty();
        may && self.stored_to > self.read_to && self.reading == Reading::Idle && self.room() > 0
    }

    /// What was read. Fewer rows than asked for means there are no more up to where they were there to be seen.
    pub(crate) fn refill(&mut self, refill: Refill, page: ReportPage, now: Timestamp) {
        if self.ports.is_empty() {
            // Everybody left meanwhile, and what was read is not wanted.
            return;
        }
        if refill.is_aside {
            return self.refill_aside(refill, page, now);
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
    fn refill_aside(&mut self, refill: Refill, page: ReportPage, now: Timestamp) {
        let at = now.plus(ASIDE_PAUSE);
        self.is_aside_due = false;
        self.aside = match (self.aside, page.last) {
            // More was put aside meanwhile, before this.
            (Some(aside), _) if aside.after < refill.after => Some(aside),
            (_, Some(after)) if page.rows == refill.limit && after < self.read_to => {
                Some(Aside { after, at })
            }
            _ => None,
        };
        for report in page.reports {
            let id = report.id;
            if id > self.read_to || self.knows(id) {
                continue;
            }
            let wants = |end: &Told| report.of_message().is_some_and(|news| news.origin.wish.wants(*end));
            if is_open_ended(&report) && page.ended.get(&id).is_some_and(wants) {
                // Its message has ended since, and that is told by itself.
                self.supersede(id);
                continue;
            }
            self.ready.insert(id, Entry::new(report));
        }
    }

    /// In memory, or done with.
    fn knows(&self, id: ReportId) -> bool {
        self.ready.contains_key(&id)
            || self.behind.contains_key(&id)
            || self.out.contains_key(&id)
            || self.deferred.get(id).is_some()
            || self.unwritten.has(id)
    }

    pub(crate) fn read_ended(&mut self) {
        if self.reading == Reading::Underway {
            self.reading = Reading::Idle;
        }
        self.unwritten.read_ended();
    }

    pub(super) fn read_failed(&mut self) {
        self.reading = Reading::Paused;
    }

    pub(super) fn read_again(&mut self) {
        if self.reading == Reading::Paused {
            self.reading = Reading::Idle;
        }
    }
}
