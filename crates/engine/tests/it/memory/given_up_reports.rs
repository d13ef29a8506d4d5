//! Reports that were given up.

use super::MemoryTables;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::ReportId;
use hermod_engine::tables::{GivenUpReportChange, GivenUpReportRows, TableError};

impl GivenUpReportRows for MemoryTables {
    fn change_given_up_report(&self, change: &GivenUpReportChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            GivenUpReportChange::Put(report) => rows.given_up.put(report.id.0, report.clone()),
            GivenUpReportChange::DeleteBetween { first, last } => {
                rows.given_up.delete_where(|id, _| (first.0..=last.0).contains(id));
            }
            GivenUpReportChange::DeleteRange { connection, first, last } => {
                let range = first.0..=last.0;
                rows.given_up.delete_where(|id, row| row.connection == *connection && range.contains(id));
            }
        }
        Ok(())
    }

    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError> {
        Ok(self.read().given_up.last_key_value().map(|(id, _)| ReportId(*id)))
    }

    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError> {
        let rows = self.read();
        let first = rows.given_up.range(1..).take(limit).take_while(|(_, row)| row.at <= newest);
        Ok(first.map(|(id, _)| ReportId(*id)).collect())
    }
}
