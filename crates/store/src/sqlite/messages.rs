//! SQL for MT messages: one row each, from acceptance to the end of its retention.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::MessageRows;

impl MessageRows for SqliteTables<'_> {}
