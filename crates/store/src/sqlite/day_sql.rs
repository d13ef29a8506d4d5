//! Statements on the tables that exist once per UTC day. Their text is written without an allocation, because they run
//! for every message.

use hermod_engine::tables::TableError;
use smallvec::SmallVec;
use std::fmt::{self, Write};

/// Longer statements are allocated.
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
