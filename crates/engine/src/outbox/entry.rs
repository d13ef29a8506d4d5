//! The reports in an outbox: ready, deferred, or in flight on a bind.

use crate::maps::HashMap;
use crate::ops::{DlrReport, Report, ReportContent, ReportId};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use std::collections::BTreeSet;

/// The number of a port: one bind of a connection. Never reused within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortNo(pub u64);

/// A report, its failed deliveries, and the port that sent it last.
pub(super) struct Entry {
    pub report: Report,
    pub failures: u32,
    pub had_by: Option<PortNo>,
}

impl Entry {
    pub(super) fn new(report: Report) -> Entry {
        Entry { report, failures: 0, had_by: None }
    }
}

/// Reports that wait for a time, by id and by time.
#[derive(Default)]
pub(super) struct DeferredReports {
    entries: HashMap<ReportId, (Timestamp, Entry)>,
    due: BTreeSet<(Timestamp, ReportId)>,
}

impl DeferredReports {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, id: ReportId) -> Option<&Entry> {
        self.entries.get(&id).map(|(_, entry)| entry)
    }

    pub(super) fn put(&mut self, at: Timestamp, entry: Entry) {
        self.due.insert((at, entry.report.id));
        self.entries.insert(entry.report.id, (at, entry));
    }

    pub(super) fn remove(&mut self, id: ReportId) -> Option<Entry> {
        let (at, entry) = self.entries.remove(&id)?;
        self.due.remove(&(at, id));
        Some(entry)
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Entry> {
        let (_, id) = self.due.first().filter(|(at, _)| *at <= now).copied()?;
        self.remove(id)
    }
}

/// A report that was given to a port and has no outcome yet.
pub(super) struct InFlight {
    pub port: PortNo,
    pub entry: Entry,
    /// Its row is deleted: it is not sent again.
    pub is_given_up: bool,
}

/// A bind that receives reports.
pub(super) struct Port {
    pub number: PortNo,
    pub in_flight: usize,
    /// Whether it has asked for reports and waits to be woken.
    pub waits: bool,
}

/// Whether a later report of the same message can follow: the message is not final, or was reported UNKNOWN.
pub(super) fn is_open_ended(report: &Report) -> bool {
    match &report.content {
        ReportContent::Inbound(_) => false,
        ReportContent::Dlr(DlrReport { status, .. }) => match status {
            ReportStatus::Enroute | ReportStatus::Accepted | ReportStatus::Final(DlrCode::Unknown) => true,
            ReportStatus::Final(
                DlrCode::Delivrd | DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired,
            ) => false,
        },
    }
}
