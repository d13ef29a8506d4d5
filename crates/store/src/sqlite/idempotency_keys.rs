//! SQL for idempotency keys, by day.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::IdempotencyKeyRows;

impl IdempotencyKeyRows for SqliteTables<'_> {}
