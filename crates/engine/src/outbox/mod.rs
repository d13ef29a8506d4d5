//! The outbox of one connection: reports that wait in memory for its binds. It is pure: times and rows are arguments. The store
//! shares outboxes between threads, wakes their ports and reads the tables for them.
//!
//! An outbox is lost on restart, and that loses no report: every report has its row until its end is written.

mod counts;
mod entry;
mod read_state;
mod reading;
mod sending;
#[cfg(test)]
mod tests;

pub use counts::ReportCounts;
pub use entry::PortNo;
pub use read_state::Refill;

use crate::maps::HashMap;
use crate::ops::{AnsweredReport, REPORTS_IN_MEMORY_MAX, Report, ReportId};
use entry::{DeferredReports, Entry, InFlight, Port};
use hermod_domain::ids::MessageId;
use read_state::{Overflow, Reading, Unwritten};
use std::collections::BTreeMap;

/// Reports that all outboxes together hold. Beyond that new ones stay in the tables.
pub const REPORTS_IN_ALL_MAX: usize = 200_000;

/// Deferred reports in the memory of one outbox. Further ones wait in the tables, so that new reports always find room.
const DEFERRED_IN_MEMORY_MAX: usize = REPORTS_IN_MEMORY_MAX / 4 * 3;

/// The reports of one connection. `sending.rs` has the rules of delivery, `reading.rs` those of reads from the tables.
pub struct Outbox {
    /// Reports to be sent, in order.
    ready: BTreeMap<ReportId, Entry>,
    /// Reports that wait for a time.
    deferred: DeferredReports,
    /// Reports that ports have.
    in_flight: HashMap<ReportId, InFlight>,
    /// Reports of messages that have an earlier report in flight.
    held_back: BTreeMap<ReportId, Entry>,
    /// Per message, the report that is in flight or deferred and can be followed by a later one.
    open_ended: HashMap<MessageId, ReportId>,
    ports: Vec<Port>,
    /// Every report up to this one is in memory or has ended, except the overflow.
    read_to: ReportId,
    /// There may be rows up to this report.
    stored_to: ReportId,
    /// Deferred reports for which memory had no room.
    overflow: Option<Overflow>,
    is_overflow_due: bool,
    reading: Reading,
    /// The other outboxes leave hardly any room.
    is_crowded: bool,
    /// Reports that were dropped in favour of a later one and are not reported to the writer yet. The writer learns of
    /// them no later than of the end of that later one.
    superseded: Vec<ReportId>,
    /// Reports that have ended, while the tables may still have their rows.
    unwritten: Unwritten,
}

/// The result of a port's request.
pub enum NextReports {
    Reports(Vec<Report>),
    /// Read the tables first, then call again.
    Read(Refill),
    Nothing,
}

/// Reports that ended by a customer's response.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FinishedIds {
    pub accepted: Vec<ReportId>,
    pub refused: Vec<(ReportId, u32)>,
    /// The customer's answers to DLRs among them.
    pub answered: Vec<AnsweredReport>,
}

impl Outbox {
    /// Returns an empty outbox of a connection whose reports up to `last` are in the tables.
    pub fn with_rows_up_to(last: ReportId) -> Outbox {
        Outbox {
            ready: BTreeMap::new(),
            deferred: DeferredReports::default(),
            in_flight: HashMap::default(),
            held_back: BTreeMap::new(),
            open_ended: HashMap::default(),
            ports: Vec::new(),
            read_to: ReportId(0),
            stored_to: last,
            overflow: None,
            is_overflow_due: false,
            reading: Reading::Idle,
            is_crowded: false,
            superseded: Vec::new(),
            unwritten: Unwritten::default(),
        }
    }

    /// Returns how many reports are in memory, including those whose end is not written yet.
    pub fn in_memory(&self) -> usize {
        let unfinished = self.in_flight.len() + self.unwritten.len();
        self.ready.len() + self.deferred.len() + self.held_back.len() + unfinished
    }

    /// Whether it can be dropped: it has no port and holds nothing.
    pub fn is_idle(&self) -> bool {
        self.ports.is_empty() && self.in_memory() == 0
    }

    /// Returns how many more reports it may hold.
    fn room(&self) -> usize {
        REPORTS_IN_MEMORY_MAX.saturating_sub(self.in_memory())
    }

    /// Whether a report is in memory, or has ended.
    fn has(&self, id: ReportId) -> bool {
        self.ready.contains_key(&id)
            || self.held_back.contains_key(&id)
            || self.in_flight.contains_key(&id)
            || self.deferred.get(id).is_some()
            || self.unwritten.has(id)
    }
}
