//! The rows of reports as they are read: in order, by connection, and what is said of how many there are.

use crate::embedded::blobs;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::Told;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{MessageNews, News, Report, ReportId};
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of a connection behind a place, in order: what could be read of them, how many there were, and the last one.
#[derive(Default)]
pub(crate) struct ReportPage {
    pub reports: Vec<Report>,
    pub rows: usize,
    pub last: Option<ReportId>,
    /// Of those, the ones whose message has ended, and how.
    pub ended: HashMap<ReportId, Told>,
}

pub(crate) fn read_page(
    connection: &Connection,
    of: ConnectionId,
    after: ReportId,
    limit: usize,
) -> Result<ReportPage, StoreFault> {
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
        let id = ReportId(row.get::<_, i64>(0)?.cast_unsigned());
        page.rows += 1;
        page.last = Some(id);
        match read(row, id, of) {
            Ok(report) => {
                if let Some(code) = row.get::<_, Option<u8>>(9)?.and_then(DlrCode::from_u8) {
                    page.ended.insert(id, Told::Final(code));
                }
                page.reports.push(report);
            }
            // It must not keep the others from being told.
            Err(fault) => {
                tracing::error!(%fault, report.id = id.0, connection.id = %of, "A report cannot be read")
            }
        }
    }
    Ok(page)
}

fn read(row: &Row<'_>, id: ReportId, connection: ConnectionId) -> Result<Report, StoreFault> {
    let news = match row.get::<_, Option<i64>>(10)? {
        Some(number) => News::Inbound(number.cast_unsigned()),
        None => News::Message(read_news(row)?),
    };
    Ok(Report {
        id,
        account: AccountId::new(row.get(6)?),
        connection,
        message: MessageId::from_i64(row.get(1)?).ok_or_else(|| StoreFault::damaged("a report's message"))?,
        at: Timestamp::from_millis(row.get(5)?),
        news,
    })
}

fn read_news(row: &Row<'_>) -> Result<MessageNews, StoreFault> {
    let (origin, alias) = blobs::origin_of(row.get_ref(8)?.as_blob().map_err(StoreFault::damaged)?)?;
    Ok(MessageNews {
        alias,
        origin: Arc::new(origin),
        told: stored_told(row.get(2)?)?,
        err: row.get(3)?,
        parts: row.get(7)?,
        delivered: row.get(4)?,
    })
}

/// In place of what is told about a message: it came from a handset. On disk for ever.
pub(crate) const INBOUND: u8 = 200;

pub(crate) fn stored_told(number: u8) -> Result<Told, StoreFault> {
    Told::from_u8(number).ok_or_else(|| StoreFault::damaged(format!("{number} is nothing a report says")))
}

/// Connections that have reports: one look for each, not one for each report.
pub(crate) fn connections_with_reports(connection: &Connection) -> Result<Vec<ConnectionId>, StoreFault> {
    let mut statement =
        connection.prepare_cached("SELECT min(connection) FROM report WHERE connection > ?1")?;
    let (mut found, mut last) = (Vec::new(), -1_i64);
    while let Some(next) = statement.query_row([last], |row| row.get::<_, Option<u32>>(0))? {
        found.push(ConnectionId::new(next));
        last = i64::from(next);
    }
    Ok(found)
}

/// How many rows a connection has.
pub(crate) fn count(connection: &Connection, of: ConnectionId) -> Result<u64, StoreFault> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM report WHERE connection = ?1")?;
    Ok(statement.query_row([of.get()], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

pub(crate) fn has_any(connection: &Connection, of: ConnectionId) -> Result<bool, StoreFault> {
    Ok(connection.prepare_cached("SELECT 1 FROM report WHERE connection = ?1 LIMIT 1")?.exists([of.get()])?)
}

/// The highest id in use: one look for each connection that has reports, not one for each report.
pub(crate) fn last_id(connection: &Connection) -> Result<u64, StoreFault> {
    let last: Option<i64> = connection.query_row(
        "WITH RECURSIVE one (connection) AS (
             SELECT min(connection) FROM report
             UNION ALL
             SELECT (SELECT min(connection) FROM report WHERE connection > one.connection) FROM one
                 WHERE one.connection IS NOT NULL)
         SELECT max(id) FROM (
             SELECT (SELECT max(id) FROM report r WHERE r.connection = one.connection) AS id FROM one
             UNION ALL SELECT max(id) FROM given_up)",
        [],
        |row| row.get(0),
    )?;
    Ok(last.unwrap_or(0).cast_unsigned())
}
