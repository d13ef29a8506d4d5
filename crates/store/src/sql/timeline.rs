//! SQL for the timeline, which keeps the unusual steps of messages, and for the reserved ids of all steps.

use crate::sql::SqlTables;
use crate::sql::{Connection, RowKey, params};
use hermod_engine::steps::{MessageStep, StepId};
use hermod_engine::tables::{StepChange, TableError, TimelineRows};

impl TimelineRows for SqlTables<'_> {
    fn change_steps(&self, change: &StepChange) -> Result<(), TableError> {
        match change {
            StepChange::Reserved(id) => reserve_steps(self.connection, *id),
            StepChange::Keep(step) => keep_step(self.connection, step),
        }
    }

    fn reserved_step(&self) -> Result<StepId, TableError> {
        let mut reserved = self.connection.prepare_cached("SELECT reserved FROM step_counter")?;
        Ok(StepId(reserved.query_row([], |row| row.get::<i64>(0))?.cast_unsigned()))
    }
}

fn reserve_steps(connection: &Connection, StepId(reserved): StepId) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE step_counter SET reserved = ?1 WHERE TRUE")?
        .change(RowKey { table: "step_counter", row: 0 }, [reserved.cast_signed()])?;
    Ok(())
}

fn keep_step(
    connection: &Connection,
    MessageStep { id, message, part, at, kind }: &MessageStep,
) -> Result<(), TableError> {
    let Some(text) = kind.timeline_text() else { return Ok(()) };
    connection
        .prepare_cached(
            "INSERT INTO timeline (rowid, message, at, part, what, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .change(
            RowKey { table: "timeline", row: id.0.cast_signed() },
            params![id.0.cast_signed(), message.as_i64(), at.as_millis(), part.get(), text.what, text.detail],
        )?;
    Ok(())
}
