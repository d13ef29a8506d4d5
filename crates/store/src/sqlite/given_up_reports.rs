//! SQL for reports that were given up.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::GivenUpReportRows;

impl GivenUpReportRows for SqliteTables<'_> {}
