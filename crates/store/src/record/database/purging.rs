//! Deletes what is past its retention from the record, a bounded number of rows at a time.

use crate::record::Resolution;
use crate::record::database::rows::{resolution_to_stored, start_to_stored};
use crate::sql::{Connection, OptionalExtension, params};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;

/// Messages, or lines of the request log, that one step deletes.
const ROWS_PER_STEP_MAX: i64 = 10_000;

/// What to delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordRetention {
    /// Messages that were accepted before this time.
    pub messages_before: Timestamp,
    /// Lines of the request log before this time.
    pub requests_before: Timestamp,
    pub now: Timestamp,
}

/// Deletes some rows in one transaction. Returns whether there may be more.
pub(super) fn purge(connection: &Connection, keep: RecordRetention) -> Result<bool, TableError> {
    let transaction = connection.transaction()?;
    let first_kept = MessageId::first_at(keep.messages_before).as_i64();
    let messages = purge_messages(&transaction, first_kept)?;
    let chunk = messages == 0 && purge_chunk(&transaction, first_kept)?;
    let requests = purge_requests(&transaction, keep.requests_before)?;
    purge_figures(&transaction, keep.now)?;
    transaction.commit()?;
    Ok(messages > 0 || chunk || requests > 0)
}

fn purge_messages(connection: &Connection, first_kept: i64) -> Result<usize, TableError> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(id) FROM (SELECT id FROM message WHERE id < ?1 ORDER BY id LIMIT ?2)")?
        .query_row(params![first_kept, ROWS_PER_STEP_MAX], |row| row.get(0))?;
    let Some(last) = last else { return Ok(0) };
    connection
        .prepare_cached(
            "DELETE FROM by_account WHERE (account, id) IN (SELECT account, id FROM message WHERE id <= ?1)",
        )?
        .execute([last])?;
    Ok(connection.prepare_cached("DELETE FROM message WHERE id <= ?1")?.execute([last])?)
}

/// Deletes the keys of one chunk whose messages are all deleted. Returns whether there was one.
fn purge_chunk(connection: &Connection, first_kept: i64) -> Result<bool, TableError> {
    let chunk: Option<i64> = connection
        .prepare_cached("SELECT no FROM chunk WHERE last < ?1 ORDER BY no LIMIT 1")?
        .query_row([first_kept], |row| row.get(0))
        .optional()?;
    let Some(chunk) = chunk else { return Ok(false) };
    for kind in crate::record::keys::KeyKind::ALL {
        connection
            .prepare_cached("DELETE FROM key WHERE kind = ?1 AND chunk = ?2")?
            .execute(params![kind as u8, chunk])?;
    }
    connection.prepare_cached("DELETE FROM chunk WHERE no = ?1")?.execute([chunk])?;
    Ok(true)
}

/// Deletes the oldest lines of the request log.
fn purge_requests(connection: &Connection, before: Timestamp) -> Result<usize, TableError> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM request WHERE no IN
             (SELECT no FROM (SELECT no, at FROM request ORDER BY no LIMIT ?2) WHERE at < ?1)",
    )?;
    Ok(delete.execute(params![before.as_millis(), ROWS_PER_STEP_MAX])?)
}

/// Deletes the figures of intervals that are not kept any more. Each scope and dimension is one range of the table.
fn purge_figures(connection: &Connection, now: Timestamp) -> Result<(), TableError> {
    let mut next = connection.prepare_cached(
        "SELECT scope, dimension FROM statistic WHERE resolution = ?1 AND (scope, dimension) > (?2, ?3)
         ORDER BY scope, dimension LIMIT 1",
    )?;
    let mut delete = connection.prepare_cached(
        "DELETE FROM statistic WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3 AND start < ?4",
    )?;
    for resolution in Resolution::ALL {
        let stored = resolution_to_stored(resolution);
        let before = start_to_stored(now.minus(resolution.kept()));
        let mut after: (i64, i64) = (-1, -1);
        while let Some(series) = next
            .query_row(params![stored, after.0, after.1], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
        {
            delete.execute(params![stored, series.0, series.1, before])?;
            after = series;
        }
    }
    Ok(())
}
