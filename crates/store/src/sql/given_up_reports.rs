//! SQL for reports that were given up.

use crate::sql::SqlTables;
use crate::sql::reports::{first_ids, report_id, report_message, told_or_inbound, told_or_inbound_to_stored};
use crate::sql::{Connection, Row, params};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{GivenUpReport, PAGE_ROWS_MAX, ReportGiveUpReason, ReportId};
use hermod_engine::tables::{GivenUpReportChange, GivenUpReportRows, TableError};

impl SqlTables<'_> {
    fn put_given_up_report(&self, report: &GivenUpReport) -> Result<(), TableError> {
        let GivenUpReport { id, account, connection, message, status: told, at, given_up_at, reason: why } =
            report;
        let status = match why {
            ReportGiveUpReason::TooOld => None,
            ReportGiveUpReason::Refused(status) => Some(*status),
        };
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO given_up (id, account, connection, message, told, at, given_up_at, status)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                id.0.cast_signed(),
                account.get(),
                connection.get(),
                message.as_i64(),
                told_or_inbound_to_stored(*told),
                at.as_millis(),
                given_up_at.as_millis(),
                status
            ])?;
        Ok(())
    }

    fn delete_given_up_between(&self, first: ReportId, last: ReportId) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM given_up WHERE id BETWEEN ?1 AND ?2")?
            .execute([first.0.cast_signed(), last.0.cast_signed()])?;
        Ok(())
    }

    fn delete_given_up_reports(
        &self,
        connection: ConnectionId,
        first: ReportId,
        last: ReportId,
    ) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM given_up WHERE connection = ?1 AND id BETWEEN ?2 AND ?3")?
            .execute(params![connection.get(), first.0.cast_signed(), last.0.cast_signed()])?;
        Ok(())
    }
}

impl GivenUpReportRows for SqlTables<'_> {
    fn change_given_up_report(&self, change: &GivenUpReportChange) -> Result<(), TableError> {
        match change {
            GivenUpReportChange::Put(report) => self.put_given_up_report(report),
            GivenUpReportChange::DeleteBetween { first, last } => self.delete_given_up_between(*first, *last),
            GivenUpReportChange::DeleteRange { connection, first, last } => {
                self.delete_given_up_reports(*connection, *first, *last)
            }
        }
    }

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
    const COLUMNS: &str = "id, account, connection, message, told, at, given_up_at, status";
    let whose = if account.is_some() { "account = ?3 AND" } else { "?3 IS NULL AND" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM given_up WHERE {whose} id > ?1 ORDER BY id LIMIT ?2"
    ))?;
    let after = after.map_or(0, |id| id.0.cast_signed());
    let bounds = params![after, limit.clamp(1, PAGE_ROWS_MAX), account.map(AccountId::get)];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>) -> Result<GivenUpReport, TableError> {
    let status: Option<u32> = row.get(7)?;
    Ok(GivenUpReport {
        id: report_id(row.get(0)?),
        account: AccountId::new(row.get(1)?),
        connection: ConnectionId::new(row.get(2)?),
        message: report_message(row.get(3)?)?,
        status: told_or_inbound(row.get(4)?)?,
        at: Timestamp::from_millis(row.get(5)?),
        given_up_at: Timestamp::from_millis(row.get(6)?),
        reason: status.map_or(ReportGiveUpReason::TooOld, ReportGiveUpReason::Refused),
    })
}
