//! SQL for reports that were given up.

use crate::sql::reports::{first_ids, report_id};
use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{GivenUpReport, PAGE_ROWS_MAX, ReportId};
use hermod_engine::tables::{GivenUpReportRows, TableError};

impl GivenUpReportRows for SqlTables<'_> {
    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError> {
        let last: Option<i64> =
            self.connection.query_row("SELECT max(id) FROM given_up", [], |row| row.get(0))?;
        Ok(last.map(report_id))
    }

    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError> {
        let query = "SELECT id, at FROM given_up WHERE id > ?1 ORDER BY id LIMIT ?2";
        first_ids(self.connection, query, 0, newest, limit)
    }
}

/// Returns reports that were given up, of one account or of all, after `after`, oldest first.
pub(crate) fn list_given_up(
    connection: &Connection,
    account: Option<AccountId>,
    after: Option<ReportId>,
    limit: u32,
) -> Result<Vec<GivenUpReport>, TableError> {
    let whose = if account.is_some() { "account = ?3 AND" } else { "?3 IS NULL AND" };
    let after = after.map_or(0, |id| id.0.cast_signed());
    let bounds = params![after, limit.clamp(1, PAGE_ROWS_MAX), account.map(AccountId::get)];
    described::rows(connection, &format!("WHERE {whose} id > ?1 ORDER BY id LIMIT ?2"), bounds)
}
