//! SQL for what each account sent per day.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::DayTotalRows;

impl DayTotalRows for SqliteTables<'_> {}
