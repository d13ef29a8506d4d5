//! What an outbox holds. `telling.rs` and `reading.rs` have its rules.

use super::deferred::DeferredReports;
use super::entry::{Entry, Out, Port};
use super::refill::{Overflow, Reading, Refill};
use super::unwritten::Unwritten;
use crate::maps::HashMap;
use crate::ops::{REPORTS_IN_MEMORY_MAX, Report, ReportId};
use hermod_domain::ids::MessageId;
use std::collections::BTreeMap;

/// Those that wait for a time in memory. Further ones wait in the tables, so that there is always room for what was not
/// tried yet.
pub(super) const DEFERRED_IN_MEMORY_MAX: usize = REPORTS_IN_MEMORY_MAX / 4 * 3;

/// The reports of one connection.
pub struct Outbox {
    /// To be told, in order.
    pub(super) ready: BTreeMap<ReportId, Entry>,
    /// Those that wait for a time.
    pub(super) deferred: DeferredReports,
    pub(super) out: HashMap<ReportId, Out>,
    /// Later reports of messages of which an earlier one is out.
    pub(super) behind: BTreeMap<ReportId, Entry>,
    /// Reports that are out or deferred and have not said the last of their message.
    pub(super) open_ended: HashMap<MessageId, ReportId>,
    pub(super) ports: Vec<Port>,
    /// Everything up to here is in memory or done with, but for the overflow.
    pub(super) read_to: ReportId,
    /// Up to here there may be rows.
    pub(super) stored_to: ReportId,
    /// Those that wait for a time and had no room.
    pub(super) overflow: Option<Overflow>,
    pub(super) is_overflow_due: bool,
    pub(super) reading: Reading,
    /// The other outboxes leave hardly any room.
    pub(super) is_crowded: bool,
    /// Dropped in favour of something newer, and the writer does not know yet. It hears of them no later than of that.
    pub(super) superseded: Vec<ReportId>,
    /// Done with, and perhaps still in the tables.
    pub(super) unwritten: Unwritten,
}

/// What a port got.
pub enum NextReports {
    Reports(Vec<Report>),
    /// Read on from the tables first.
    Read(Refill),
    Nothing,
}

/// What answers came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FinishedIds {
    pub accepted: Vec<ReportId>,
    pub refused: Vec<(ReportId, u32)>,
}

impl Outbox {
    /// Returns an empty outbox of which everything up to a report stands in the tables.
    pub fn behind(last: ReportId) -> Outbox {
        Outbox {
            ready: BTreeMap::new(),
            deferred: DeferredReports::default(),
            out: HashMap::default(),
            behind: BTreeMap::new(),
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

    /// How many reports it holds in memory, those among them whose end is not written yet.
    pub fn in_memory(&self) -> usize {
        let told = self.out.len() + self.unwritten.len();
        self.ready.len() + self.deferred.len() + self.behind.len() + told
    }

    /// Whether it can be dropped: it has no ports and holds nothing.
    pub fn is_idle(&self) -> bool {
        self.ports.is_empty() && self.in_memory() == 0
    }

    /// How many more reports it may hold.
    pub(super) fn room(&self) -> usize {
        REPORTS_IN_MEMORY_MAX.saturating_sub(self.in_memory())
    }

    /// Whether a report is in memory, or done with.
    pub(super) fn knows(&self, id: ReportId) -> bool {
        self.ready.contains_key(&id)
            || self.behind.contains_key(&id)
            || self.out.contains_key(&id)
            || self.deferred.get(id).is_some()
            || self.unwritten.has(id)
    }
}
