//! SQL for what retention removes.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::PurgingRows;

impl PurgingRows for SqliteTables<'_> {}
