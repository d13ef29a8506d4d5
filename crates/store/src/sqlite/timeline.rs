//! SQL for what happened to a message beyond its ordinary course.

use crate::sqlite::SqliteTables;
use hermod_domain::ids::MessageId;
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

    fn has_timeline_line(&self, message: MessageId, what: &str) -> Result<bool, TableError> {
        let mut line =
            self.connection.prepare_cached("SELECT 1 FROM timeline WHERE message = ?1 AND what = ?2")?;
        Ok(line.exists(params![message.as_i64(), what])?)
    }

    fn timeline_details(&self, message: MessageId, what: &str) -> Result<Vec<String>, TableError> {
        let mut lines =
            self.connection.prepare_cached("SELECT detail FROM timeline WHERE message = ?1 AND what = ?2")?;
        let details = lines.query_map(params![message.as_i64(), what], |row| row.get(0))?;
        Ok(details.collect::<Result<_, _>>()?)
    }

    fn count_timeline_lines(&self, message: MessageId, kinds: [&str; 2]) -> Result<u32, TableError> {
        let [one, other] = kinds;
        Ok(self
            .connection
            .prepare_cached("SELECT count(*) FROM timeline WHERE message = ?1 AND what IN (?2, ?3)")?
            .query_row(params![message.as_i64(), one, other], |row| row.get(0))?)
    }
}
