//! Reports that were given up.

use super::MemoryTables;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::ReportId;
use hermod_engine::tables::{GivenUpReportRows, TableError};

impl GivenUpReportRows for MemoryTables {
    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError> {
        Ok(self.read().given_up.last_key_value().map(|((id,), _)| *id))
    }

    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError> {
        let rows = self.read();
        let first = rows.given_up.range((ReportId(1),)..).take(limit).take_while(|(_, row)| row.at <= newest);
        Ok(first.map(|((id,), _)| *id).collect())
    }
}
