//! SQL for MO messages of accounts.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::InboundRows;

impl InboundRows for SqliteTables<'_> {}
