//! SQL for reports that wait for a bind.

use crate::error::StoreError;
use crate::sql::SqlTables;
use crate::sql::blobs;
use crate::sql::read_results::OnTransmitters;
use crate::sql::{Connection, Error, OptionalExtension, Row, RowKey, params};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{DlrReport, Report, ReportContent, ReportId};
use hermod_engine::tables::{
    ReportChange, ReportPage, ReportRange, ReportRows, StoredReport, TOLD_INBOUND, TableError,
};
use rusqlite::ToSql;
use std::sync::Arc;

/// Ranges of reports that one query counts: a power of two.
const RANGES_PER_QUERY: usize = 64;
/// No report and no connection has this id.
const NO_REPORT: i64 = -1;

fn put_report(connection: &Connection, report: &Report, has_webhook_event: bool) -> Result<(), TableError> {
    let Report { id, account, connection: to, message, at, content: news } = report;
    let (to, id, message, at) = (to.get(), id.0.cast_signed(), message.as_i64(), at.as_millis());
    let row = RowKey { table: "report", row: id };
    match news {
        ReportContent::Dlr(DlrReport { status: told, err, delivered, .. }) => connection
            .prepare_cached(
                "INSERT INTO report (connection, id, message, told, err, delivered, at, hooked)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .change(row, params![to, id, message, told.as_u8(), err, delivered, at, has_webhook_event])?,
        ReportContent::Inbound(number) => connection
            .prepare_cached(
                "INSERT INTO report (connection, id, message, told, err, delivered, at, account, inbound, hooked)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, ?8)",
            )?
            .change(row, params![
                to,
                id,
                message,
                TOLD_INBOUND,
                at,
                account.get(),
                number.cast_signed(),
                has_webhook_event
            ])?,
    };
    Ok(())
}

fn delete_reports(
    connection: &Connection,
    of: ConnectionId,
    first: ReportId,
    last: ReportId,
) -> Result<(), TableError> {
    // Reports of this batch are not deleted by it: they were not delivered yet.
    let row = RowKey { table: "report", row: first.0.cast_signed() };
    connection
        .prepare_cached("DELETE FROM report WHERE connection = ?1 AND id BETWEEN ?2 AND ?3")?
        .change(row, params![of.get(), first.0.cast_signed(), last.0.cast_signed()])?;
    Ok(())
}

impl ReportRows for SqlTables<'_> {
    fn count_reports(&self, ranges: &[ReportRange]) -> Result<Vec<u64>, TableError> {
        let mut counts = Vec::with_capacity(ranges.len());
        for ranges in ranges.chunks(RANGES_PER_QUERY) {
            // A few sizes, so that few statements are prepared.
            let size = ranges.len().next_power_of_two();
            let mut values = Vec::with_capacity(3 * size);
            for ReportRange { connection, first, last } in ranges {
                values.extend([connection.get().into(), first.0.cast_signed(), last.0.cast_signed()]);
            }
            values.resize(3 * size, NO_REPORT);
            let mut count = self.connection.prepare_cached(&count_query(size))?;
            let read = |row: &Row<'_>| (0..ranges.len()).map(|column| row.get::<i64>(column)).collect();
            let values: Vec<&dyn ToSql> = values.iter().map(|value| value as &dyn ToSql).collect();
            let counted: Vec<i64> = count.query_row(&values[..], read)?;
            counts.extend(counted.into_iter().map(i64::cast_unsigned));
        }
        Ok(counts)
    }

    fn change_report(&self, change: &ReportChange) -> Result<(), TableError> {
        match change {
            ReportChange::Add { report, has_webhook_event } => {
                put_report(self.connection, report, *has_webhook_event)
            }
            ReportChange::Delete { connection, first, last } => {
                delete_reports(self.connection, *connection, *first, *last)
            }
        }
    }

    /// One seek per connection, not per report.
    fn connections_with_reports(&self) -> Result<Vec<ConnectionId>, TableError> {
        let mut statement =
            self.connection.prepare_cached("SELECT min(connection) FROM report WHERE connection > ?1")?;
        let (mut found, mut last) = (Vec::new(), -1_i64);
        while let Some(next) = statement.query_row([last], |row| row.get::<Option<u32>>(0))? {
            found.push(ConnectionId::new(next));
            last = i64::from(next);
        }
        Ok(found)
    }

    /// One seek per connection that has reports, not per report.
    fn last_report(&self) -> Result<Option<ReportId>, TableError> {
        let last: Option<i64> = self.connection.query_row(
            "WITH RECURSIVE one (connection) AS (
                 SELECT min(connection) FROM report
                 UNION ALL
                 SELECT (SELECT min(connection) FROM report WHERE connection > one.connection) FROM one
                     WHERE one.connection IS NOT NULL)
             SELECT max(id) FROM (
                 SELECT (SELECT max(id) FROM report r WHERE r.connection = one.connection) AS id FROM one) AS ids",
            [],
            |row| row.get(0),
        )?;
        Ok(last.map(report_id))
    }

    fn has_reports(&self, connection: ConnectionId) -> Result<bool, TableError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM report WHERE connection = ?1 LIMIT 1")?
            .exists([connection.get()])?)
    }

    fn report(&self, connection: ConnectionId, id: ReportId) -> Result<Option<StoredReport>, TableError> {
        self.connection
            .prepare_cached(
                "SELECT ifnull(r.account, m.account), r.message, r.told, r.err, r.at
                 FROM report r LEFT JOIN message m ON m.id = r.message WHERE r.connection = ?1 AND r.id = ?2",
            )?
            .query_row(params![connection.get(), id.0.cast_signed()], |row| Ok(read_stored(row)))
            .optional()?
            .transpose()
            .map_err(to_unreadable)
    }

    fn first_reports(
        &self,
        connection: ConnectionId,
        newest: Timestamp,
        limit: usize,
    ) -> Result<Vec<ReportId>, TableError> {
        let query = "SELECT id, at FROM report WHERE connection = ?1 ORDER BY id LIMIT ?2";
        first_ids(self.connection, query, i64::from(connection.get()), newest, limit)
    }
}

/// Converts SQLite's error about an invalid value to the engine's error for unreadable rows.
fn to_unreadable(error: TableError) -> TableError {
    match error.downcast_ref::<Error>() {
        Some(invalid) if invalid.is_invalid_value() => {
            TableError::unreadable(format!("database error: {invalid}"))
        }
        _ => error,
    }
}

fn read_stored(row: &Row<'_>) -> Result<StoredReport, TableError> {
    Ok(StoredReport {
        account: row.get::<Option<u32>>(0)?.map(AccountId::new),
        message: report_message(row.get(1)?)?,
        status: told_or_inbound(row.get(2)?)?,
        err: row.get(3)?,
        at: Timestamp::from_millis(row.get(4)?),
    })
}

/// Returns the ids of the first rows up to the first that is newer than `newest`. The query returns id and time of rows in
/// order, for the parameters `bound` and `limit`.
pub(super) fn first_ids(
    connection: &Connection,
    query: &str,
    bound: i64,
    newest: Timestamp,
    limit: usize,
) -> Result<Vec<ReportId>, TableError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params![bound, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<i64>(1)? > newest.as_millis() {
            break;
        }
        found.push(report_id(row.get(0)?));
    }
    Ok(found)
}

/// Returns a connection's reports after `after`, at most `limit`. Unreadable reports are logged and left out, so that they do not
/// block the others.
pub(crate) fn read_page(
    connection: &Connection,
    of: ConnectionId,
    after: ReportId,
    limit: usize,
) -> Result<ReportPage, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.message, r.told, r.err, r.delivered, r.at, ifnull(r.account, m.account), m.parts, m.origin,
             CASE WHEN m.settled_at IS NOT NULL THEN m.dlr END, r.inbound
         FROM report r LEFT JOIN message m ON m.id = r.message
         WHERE r.connection = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![of.get(), after.0.cast_signed(), limit])?;
    let mut page = ReportPage::default();
    while let Some(row) = rows.next()? {
        let id = report_id(row.get(0)?);
        page.rows += 1;
        page.last = Some(id);
        match read(&row, id, of) {
            Ok(report) => {
                if let Some(code) = row.get::<Option<u8>>(9)?.and_then(DlrCode::from_u8) {
                    page.ended.insert(id, ReportStatus::Final(code));
                }
                page.reports.push(report);
            }
            Err(error) => {
                let error = StoreError::from(error);
                tracing::error!(%error, report.id = id.0, connection.id = %of, "A report is unreadable and is not sent");
            }
        }
    }
    Ok(page)
}

fn read(row: &Row<'_>, id: ReportId, connection: ConnectionId) -> Result<Report, TableError> {
    let news = match row.get::<Option<i64>>(10)? {
        Some(number) => ReportContent::Inbound(number.cast_unsigned()),
        None => ReportContent::Dlr(read_news(row)?),
    };
    Ok(Report {
        id,
        account: AccountId::new(row.get(6)?),
        connection,
        message: report_message(row.get(1)?)?,
        at: Timestamp::from_millis(row.get(5)?),
        content: news,
    })
}

fn read_news(row: &Row<'_>) -> Result<DlrReport, TableError> {
    let (origin, alias) = blobs::origin_of(row.get_ref(8)?.as_blob().map_err(TableError::unreadable)?)?;
    Ok(DlrReport {
        alias,
        origin: Arc::new(origin),
        status: stored_told(row.get(2)?)?,
        err: row.get(3)?,
        parts: row.get(7)?,
        delivered: row.get(4)?,
    })
}

/// Returns the query that counts the reports of several ranges, each in a column of its own.
fn count_query(ranges: usize) -> String {
    let column = |range: usize| {
        let (connection, first, last) = (3 * range + 1, 3 * range + 2, 3 * range + 3);
        format!(
            "(SELECT count(*) FROM report WHERE connection = ?{connection} AND id BETWEEN ?{first} AND ?{last})"
        )
    };
    format!("SELECT {}", (0..ranges).map(column).collect::<Vec<_>>().join(", "))
}

/// Returns how many reports a connection has.
pub(crate) fn count_reports(connection: &Connection, of: ConnectionId) -> Result<u64, TableError> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM report WHERE connection = ?1")?;
    Ok(statement.query_row([of.get()], |row| row.get::<i64>(0))?.cast_unsigned())
}

/// Reads `limit` reports of a connection after `after`, and returns those of messages submitted on transmitter binds that are
/// not also sent by webhook.
pub(crate) fn on_transmitters(
    tables: &Connection,
    connection: ConnectionId,
    after: ReportId,
    limit: usize,
) -> Result<OnTransmitters, TableError> {
    // The filter is not in the query, so that a read is bounded also where no report matches.
    let mut statement = tables.prepare_cached(
        "SELECT r.id, r.hooked, m.origin FROM report r LEFT JOIN message m ON m.id = r.message
         WHERE r.connection = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![connection.get(), after.0.cast_signed(), limit])?;
    let mut found = OnTransmitters { reports: Vec::new(), last: after, rows_read: 0 };
    while let Some(row) = rows.next()? {
        found.rows_read += 1;
        found.last = report_id(row.get(0)?);
        let hooked: i64 = row.get(1)?;
        // An unreadable report stays, and is given up when its time is over.
        let origin = row.get_ref(2)?.as_blob_or_null().ok().flatten().map(blobs::origin_of);
        if hooked == 0 && matches!(origin, Some(Ok((origin, _))) if origin.on_transmitter) {
            found.reports.push(found.last);
        }
    }
    Ok(found)
}

pub(super) fn report_id(number: i64) -> ReportId {
    ReportId(number.cast_unsigned())
}

fn report_message(number: i64) -> Result<MessageId, TableError> {
    MessageId::from_i64(number).ok_or_else(|| TableError::unreadable("a report's message"))
}

/// Returns the numbers of an account's MO messages that wait for the binds of a connection, among its newest `limit` reports.
pub(crate) fn inbound_waiting(
    connection: &Connection,
    of: ConnectionId,
    account: AccountId,
    limit: u32,
) -> Result<Vec<u64>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT inbound FROM (SELECT account, inbound FROM report WHERE connection = ?1 ORDER BY id DESC LIMIT ?3) AS newest
         WHERE account = ?2 AND inbound IS NOT NULL",
    )?;
    let rows = statement
        .query_map(params![of.get(), account.get(), limit], |row| Ok(row.get::<i64>(0)?.cast_unsigned()))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn told_or_inbound(number: u8) -> Result<Option<ReportStatus>, TableError> {
    (number != TOLD_INBOUND).then(|| stored_told(number)).transpose()
}

pub(super) fn stored_told(number: u8) -> Result<ReportStatus, TableError> {
    ReportStatus::from_u8(number)
        .ok_or_else(|| TableError::unreadable(format!("{number} is not a report status")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_that_is_also_sent_by_webhook_counts_as_read() {
        let tables = Connection::in_memory();
        let make = "CREATE TABLE report (connection, id, message, hooked); CREATE TABLE message (id, origin)";
        tables.execute_batch(make).unwrap();
        let connection = ConnectionId::new(1);
        for id in 1..=501 {
            tables.execute("INSERT INTO report VALUES (1, ?1, ?1, 1)", [id]).unwrap();
        }
        let found = on_transmitters(&tables, connection, ReportId(0), 500).unwrap();
        assert_eq!((found.rows_read, found.last.0), (500, 500));
        let found = on_transmitters(&tables, connection, found.last, 500).unwrap();
        assert_eq!((found.rows_read, found.last.0), (1, 501));
        assert!(found.reports.is_empty());
    }
}
