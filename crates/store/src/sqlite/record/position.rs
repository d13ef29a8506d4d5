//! SQL for how far the record is.

use crate::record::pending::Position;
use crate::sql::{Connection, Row, params};
use hermod_engine::tables::TableError;

/// Returns where the record is.
pub(crate) fn read(connection: &Connection) -> Result<Position, TableError> {
    let read = |row: &Row<'_>| {
        Ok(Position {
            sequence: row.get::<i64>(0)?.cast_unsigned(),
            walk_next: row.get(1)?,
            walk_end: row.get(2)?,
            recheck_next: row.get(3)?,
            recheck_end: row.get(4)?,
        })
    };
    let columns = "SELECT sequence, walk_next, walk_end, recheck_next, recheck_end FROM position";
    Ok(connection.query_row(columns, [], read)?)
}

/// Writes where the record is, and how many messages were ever added to it.
pub(super) fn put(connection: &Connection, position: &Position, messages: u64) -> Result<(), TableError> {
    let Position { sequence, walk_next, walk_end, recheck_next, recheck_end } = position;
    connection
        .prepare_cached(
            "UPDATE position SET sequence = ?1, messages = ?2, walk_next = ?3, walk_end = ?4, recheck_next = ?5,
                 recheck_end = ?6",
        )?
        .execute(params![
            sequence.cast_signed(),
            messages.cast_signed(),
            walk_next,
            walk_end,
            recheck_next,
            recheck_end
        ])?;
    Ok(())
}
