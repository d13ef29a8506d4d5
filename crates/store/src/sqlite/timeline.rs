//! SQL for what happened to a message beyond its ordinary course.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::{TableError, TimelineLine, TimelineRows};
use rusqlite::params;

impl TimelineRows for SqliteTables<'_> {
    fn last_timeline_id(&self) -> Result<i64, TableError> {
        let mut last = self.connection.prepare_cached("SELECT coalesce(max(rowid), 0) FROM timeline")?;
        Ok(last.query_row([], |row| row.get(0))?)
    }

    fn add_timeline_line(&self, line: &TimelineLine) -> Result<(), TableError> {
        let TimelineLine { id, message, at, part, what, detail } = line;
        self.connection
            .prepare_cached(
                "INSERT INTO timeline (rowid, message, at, part, what, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![id, message.as_i64(), at.as_millis(), part.get(), what, detail])?;
        Ok(())
    }
}
