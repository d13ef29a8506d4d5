//! SQL for recipients who opted out.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::OptOutRows;

impl OptOutRows for SqliteTables<'_> {}
