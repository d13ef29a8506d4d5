//! The table of reports that were given up.

use crate::ops::{GivenUp, ReportId};
use crate::tables::TableError;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

/// Reads and writes reports that were given up.
pub trait GivenUpReportRows {
    /// Returns the highest id of a report that was given up.
    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError>;

    /// Returns the first reports that were given up, in order: at most `limit`, and none from the first on that is newer
    /// than `newest`.
    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError>;

    /// Writes a report that was given up, new or not.
    fn put_given_up_report(&self, report: &GivenUp) -> Result<(), TableError>;

    /// Deletes the reports that were given up from one id to another, both included.
    fn delete_given_up_between(&self, first: ReportId, last: ReportId) -> Result<(), TableError>;

    /// Deletes a connection's reports that were given up, from one id to another, both included.
    fn delete_given_up_reports(
        &self,
        connection: ConnectionId,
        first: ReportId,
        last: ReportId,
    ) -> Result<(), TableError>;
}
