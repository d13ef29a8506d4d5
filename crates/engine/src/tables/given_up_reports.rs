//! The table of reports that were given up.

use crate::ops::{GivenUpReport, ReportId};
use crate::tables::TableError;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GivenUpReportChange {
    Put(GivenUpReport),
    /// The reports from one id to another, both included, are deleted.
    DeleteBetween {
        first: ReportId,
        last: ReportId,
    },
    /// The reports of a connection from one id to another, both included, are deleted.
    DeleteRange {
        connection: ConnectionId,
        first: ReportId,
        last: ReportId,
    },
}

/// Reads and writes reports that were given up.
pub trait GivenUpReportRows {
    /// Applies a change.
    fn change_given_up_report(&self, change: &GivenUpReportChange) -> Result<(), TableError>;

    /// Returns the highest id of a report that was given up.
    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError>;

    /// Returns the first reports that were given up, in order: at most `limit`, and none from the first on that is newer
    /// than `newest`.
    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError>;
}
