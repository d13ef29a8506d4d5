//! SQL for parts of messages that have not ended.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::PartRows;

impl PartRows for SqliteTables<'_> {}
