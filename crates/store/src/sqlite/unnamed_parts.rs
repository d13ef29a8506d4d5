//! SQL for parts that a carrier accepted without an id.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::UnnamedPartRows;

impl UnnamedPartRows for SqliteTables<'_> {}
