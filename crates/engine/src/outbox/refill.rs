//! Reads of the tables: where one begins, and up to which report it must have seen the rows.

use crate::ops::ReportId;
use hermod_domain::time::Timestamp;

/// Whether the tables are being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Idle,
    Underway,
    /// The last one failed.
    Paused,
}

/// Where to look for reports that wait in the tables because memory had no room for them, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overflow {
    pub after: ReportId,
    pub at: Timestamp,
}

/// A read of the tables that the outbox wants: the connection's reports behind one, in order.
///
/// A short page is not the end. Fewer rows than the limit say that there are no more up to [`Refill::until`], and nothing
/// about later ones: they may be written, and not be in the page. So the page has to be read from tables that have every
/// report up to there. Tables that lag behind answer only once they have them; otherwise a report would be passed over
/// and never be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refill {
    pub after: ReportId,
    /// The last report whose row has to be seen by the read, if it exists.
    pub until: ReportId,
    pub limit: usize,
    /// The read looks for the overflow.
    pub(super) is_overflow: bool,
}
