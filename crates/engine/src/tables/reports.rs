//! The table of reports that wait for a bind.

use crate::maps::HashMap;
use crate::ops::{Report, ReportId};
use crate::tables::TableError;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Consecutive reports of a connection.
#[derive(Default)]
pub struct ReportPage {
    /// In order; those that can be read.
    pub reports: Vec<Report>,
    /// How many rows were read.
    pub rows: usize,
    /// The last row that was read.
    pub last: Option<ReportId>,
    /// How the messages of these reports ended, for those that have ended.
    pub ended: HashMap<ReportId, ReportStatus>,
}

/// What the row of a report says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredReport {
    /// None if neither the report nor its message tells.
    pub account: Option<AccountId>,
    pub message: MessageId,
    /// None if it delivers an MO message.
    pub status: Option<ReportStatus>,
    pub err: u16,
    /// When the message got this status, or was received.
    pub at: Timestamp,
}

/// A report whose row is damaged.
pub struct UnreadableReport {
    pub connection: ConnectionId,
    pub report: ReportId,
    pub error: TableError,
}

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ReportChange {
    /// A new report. `has_webhook_event`: whether a webhook event reports the same.
    Add { report: Report, has_webhook_event: bool },
    /// The reports of a connection from one id to another, both included, are deleted.
    Delete { connection: ConnectionId, first: ReportId, last: ReportId },
}

/// Reports of a connection from one id to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportRange {
    pub connection: ConnectionId,
    pub first: ReportId,
    pub last: ReportId,
}

impl ReportRange {
    /// Returns how many ids it has.
    pub fn ids(&self) -> u64 {
        self.last.0 - self.first.0 + 1
    }
}

/// Reads and writes reports that wait for a bind.
pub trait ReportRows {
    /// Applies a change.
    fn change_report(&self, change: &ReportChange) -> Result<(), TableError>;

    /// Returns the connections that have reports.
    fn connections_with_reports(&self) -> Result<Vec<ConnectionId>, TableError>;

    /// Returns the highest id of a report.
    fn last_report(&self) -> Result<Option<ReportId>, TableError>;

    /// Returns whether a connection has reports.
    fn has_reports(&self, connection: ConnectionId) -> Result<bool, TableError>;

    /// Returns a connection's report; None if it has no such report. The error is [`Unreadable`](crate::tables::Unreadable)
    /// if the row is damaged.
    fn report(&self, connection: ConnectionId, id: ReportId) -> Result<Option<StoredReport>, TableError>;

    /// Returns how many reports there are in each range.
    fn count_reports(&self, ranges: &[ReportRange]) -> Result<Vec<u64>, TableError>;

    /// Returns the first reports of a connection, in order: at most `limit`, and none from the first on that is newer than
    /// `newest`.
    fn first_reports(
        &self,
        connection: ConnectionId,
        newest: Timestamp,
        limit: usize,
    ) -> Result<Vec<ReportId>, TableError>;
}
