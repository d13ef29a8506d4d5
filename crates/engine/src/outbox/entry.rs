//! A report in an outbox: waiting, or given to a bind that has not answered yet.

use crate::ops::{DlrReport, Report, ReportContent};
use hermod_domain::receipt::{DlrCode, ReportStatus};

/// Which bind of a connection. Never reused within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortNo(pub u64);

/// A report, how often it could not be taken, and who had it last.
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

pub(super) struct Out {
    pub port: PortNo,
    pub entry: Entry,
    /// Its row is deleted: it is not repeated.
    pub is_given_up: bool,
}

pub(super) struct Port {
    pub number: PortNo,
    pub out: usize,
    pub waits: bool,
}

/// Whether a later report of the same message can follow: the message is on its way, or was reported UNKNOWN.
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
