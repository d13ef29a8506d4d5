//! SQL for reports that wait for a bind.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::ReportRows;

impl ReportRows for SqliteTables<'_> {}
