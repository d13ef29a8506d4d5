//! Reports that nobody took: too old, or refused for good. They are listed for a while, so that it can be seen what a
//! customer was not told.

use crate::batch::{ALL_ROWS, Batch};
use crate::ops::{GIVEN_UP_KEPT, GivenUpWhy, REPORT_KEPT, ReportId};
use crate::tables::{GivenUpReportChange, TableError};
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

/// Reports given up or forgotten in one transaction.
pub const REPORTS_PER_WRITE: usize = 500;

impl Batch<'_> {
    /// Gives up a connection's reports that are too old, some at a time. Reports come to be in the order of time, so the
    /// first that is young enough ends the search.
    pub fn give_up_old_reports(
        &mut self,
        connection: ConnectionId,
        now: Timestamp,
    ) -> Result<Vec<ReportId>, TableError> {
        self.at(now);
        let oldest =
            self.tables.read()?.first_reports(connection, now.minus(REPORT_KEPT), REPORTS_PER_WRITE)?;
        let mut gone = 0;
        for id in &oldest {
            gone += self.give_up_report(connection, *id, GivenUpWhy::TooOld)?;
        }
        self.reports_gone(connection, gone);
        if oldest.is_empty() && !self.tables.read()?.has_reports(connection)? {
            self.reports_gone.push((connection, ALL_ROWS));
        }
        Ok(oldest)
    }

    /// Deletes some of those that were given up long ago, and returns how many. They are found by the time they came to be,
    /// which is also the order of their ids: that they were given up is at most [`REPORT_KEPT`] later.
    pub fn forget_given_up(&mut self, now: Timestamp) -> Result<usize, TableError> {
        self.at(now);
        let too_old = now.minus(GIVEN_UP_KEPT + REPORT_KEPT);
        let oldest = self.tables.read()?.first_given_up_reports(too_old, REPORTS_PER_WRITE)?;
        if let (Some(first), Some(last)) = (oldest.first(), oldest.last()) {
            self.tables.write(GivenUpReportChange::DeleteBetween { first: *first, last: *last });
        }
        Ok(oldest.len())
    }
}
