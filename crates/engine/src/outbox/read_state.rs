//! What an outbox knows about its reads of the tables.

use crate::maps::HashSet;
use crate::ops::ReportId;
use hermod_domain::time::Timestamp;

/// Whether the tables are being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Idle,
    Underway,
    /// The last read failed. None is started until [`Outbox::read_again`](super::Outbox::read_again).
    Paused,
}

/// Where the reports begin that wait in the tables because memory had no room, and when to read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow {
    pub after: ReportId,
    pub at: Timestamp,
}

/// A read of the tables that the outbox requests: the connection's reports behind `after`, in order.
///
/// A page with fewer rows than `limit` means that there are no more up to [`Refill::until`]. It says nothing about
/// later reports: their rows may exist and not be in the page. So the page must be read from a snapshot that has every
/// report up to `until`; a replica that lags behind must wait until it has. Otherwise a report would be skipped and
/// never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refill {
    pub after: ReportId,
    /// The last report whose row the read must see, if it exists.
    pub until: ReportId,
    pub limit: usize,
    /// The read is for the overflow.
    pub(super) is_overflow: bool,
}

/// Reports that have ended while the tables may still have their rows. Reads skip them.
#[derive(Default)]
pub(super) struct Unwritten {
    ended: HashSet<ReportId>,
    /// Those whose rows were deleted while the tables were being read: the read may have seen them before.
    gone: Vec<ReportId>,
}

impl Unwritten {
    pub(super) fn len(&self) -> usize {
        self.ended.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }

    pub(super) fn has(&self, id: ReportId) -> bool {
        self.ended.contains(&id)
    }

    pub(super) fn add(&mut self, id: ReportId) {
        self.ended.insert(id);
    }

    /// Notes that the row of a report is deleted.
    pub(super) fn written(&mut self, id: ReportId, reading: Reading) {
        match reading {
            Reading::Underway => self.gone.push(id),
            Reading::Idle | Reading::Paused => {
                self.ended.remove(&id);
            }
        }
    }

    /// Forgets the reports whose rows were deleted during the read.
    pub(super) fn read_ended(&mut self) {
        for id in self.gone.drain(..) {
            self.ended.remove(&id);
        }
    }
}
