//! Tables that exist once per UTC day: lists them, and builds statements on them without an allocation, because those run for
//! every message.

use crate::sql::Connection;
use hermod_engine::tables::TableError;
use smallvec::SmallVec;
use std::fmt::{self, Write};

/// Statements up to this length need no allocation.
const STATEMENT_BYTES: usize = 256;

/// The text of a statement that names the table of a day.
pub(super) struct DaySql(SmallVec<[u8; STATEMENT_BYTES]>);

impl DaySql {
    pub(super) fn new(text: fmt::Arguments<'_>) -> Result<DaySql, TableError> {
        let mut sql = DaySql(SmallVec::new());
        sql.write_fmt(text)?;
        Ok(sql)
    }

    pub(super) fn as_str(&self) -> Result<&str, TableError> {
        Ok(std::str::from_utf8(&self.0)?)
    }
}

impl Write for DaySql {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns the days for which a table of this kind (such as `remote`) exists, oldest first.
pub(crate) fn bucket_days(connection: &Connection, kind: &str) -> Result<Vec<i64>, TableError> {
    let mut statement = connection.prepare_cached(match connection {
        Connection::Sqlite(_) => "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, length(?1)) = ?1",
        Connection::Postgres(_) => {
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, ?1)"
        }
    })?;
    let names = statement.query_map([format!("{kind}_")], |row| row.get::<String>(0))?;
    let mut days = Vec::new();
    for name in names {
        if let Some(day) = name?.strip_prefix(kind).and_then(|rest| rest.strip_prefix('_')?.parse().ok()) {
            days.push(day);
        }
    }
    days.sort_unstable();
    Ok(days)
}
