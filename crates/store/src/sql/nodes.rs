//! Reads about nodes, which only a database that several nodes share has.

use crate::node_run::NodeRun;
use crate::read_results::StorePosition;
use crate::sql::{Connection, OptionalExtension, params};
use hermod_engine::tables::TableError;

/// Returns the last operation of a node that was run.
pub(crate) fn applied(connection: &Connection, run: NodeRun) -> Result<u64, TableError> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT number FROM applied WHERE node = ?1 AND epoch = ?2")?
        .query_row(params![run.id, run.epoch.cast_signed()], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0).cast_unsigned())
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
