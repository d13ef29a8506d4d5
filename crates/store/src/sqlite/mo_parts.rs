//! SQL for parts of concatenated MO messages, and what was received before.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::MoPartRows;

impl MoPartRows for SqliteTables<'_> {}
