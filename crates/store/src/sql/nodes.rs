//! Nodes and the operations that they sent: what only a database that several nodes share has.

use crate::postgres::server::NodeRun;
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, OptionalExtension, params};
use hermod_engine::commands::AnyOutcome;
use hermod_engine::tables::TableError;

/// Outcomes of a node's operations by their numbers; none for one that was cancelled. They are stored with what the operations
/// changed, because the answers may be lost with the node that ran them.
pub(crate) type KeptOutcomes = Vec<(u64, Option<AnyOutcome>)>;

/// Returns the last operation of a node that was run, and the outcomes that are kept.
pub(crate) fn applied(connection: &Connection, run: NodeRun) -> Result<(u64, KeptOutcomes), TableError> {
    let key = params![run.id, run.epoch.cast_signed()];
    let found: Option<i64> = connection
        .prepare_cached("SELECT number FROM applied WHERE node = ?1 AND epoch = ?2")?
        .query_row(key, |row| row.get(0))
        .optional()?;
    let mut outcomes = KeptOutcomes::new();
    let mut statement =
        connection.prepare_cached("SELECT outcomes FROM outcome WHERE node = ?1 AND epoch = ?2")?;
    let mut rows = statement.query(key)?;
    while let Some(row) = rows.next()? {
        let kept: KeptOutcomes = postcard::from_bytes(row.get_ref(0)?.as_blob()?)?;
        outcomes.extend(kept);
    }
    Ok((found.unwrap_or(0).cast_unsigned(), outcomes))
}

/// Returns the last batch.
pub(crate) fn commits(connection: &Connection) -> Result<u64, TableError> {
    Ok(store_position(connection)?.sequence)
}

/// Returns the store's id and the last batch.
pub(crate) fn store_position(connection: &Connection) -> Result<StorePosition, TableError> {
    let found = connection.prepare_cached("SELECT store, commits FROM writer")?.query_row([], |row| {
        Ok(StorePosition { id: row.get(0)?, sequence: row.get::<i64>(1)?.cast_unsigned() })
    })?;
    Ok(found)
}
