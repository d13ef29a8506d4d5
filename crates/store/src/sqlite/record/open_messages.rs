//! SQL for the messages of the record that have not ended.

use crate::record::RecordedMessage;
use crate::sql::{Connection, OptionalExtension, params};
use crate::sqlite::record::rows::{MESSAGE_COLUMNS, read_message};
use hermod_engine::tables::TableError;

/// Returns the newest message.
pub(crate) fn newest(connection: &Connection) -> Result<Option<i64>, TableError> {
    Ok(connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?)
}

/// Returns at most `limit` open messages from `first` to `last`.
pub(crate) fn list(
    connection: &Connection,
    first: i64,
    last: i64,
    limit: usize,
) -> Result<Vec<i64>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM message INDEXED BY message_open WHERE settled_ms IS NULL AND id BETWEEN ?1 AND ?2
         ORDER BY id LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let ids = statement.query_map(params![first, last, limit], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns a message if it is open.
pub(crate) fn find(connection: &Connection, id: i64) -> Result<Option<RecordedMessage>, TableError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {MESSAGE_COLUMNS} FROM message m WHERE m.id = ?1 AND m.settled_ms IS NULL"
    ))?;
    statement.query_row([id], |row| Ok(read_message(row))).optional()?.transpose()
}
