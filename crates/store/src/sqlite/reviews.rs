//! SQL for messages held for review, and the decisions about them.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::ReviewRows;

impl ReviewRows for SqliteTables<'_> {}
