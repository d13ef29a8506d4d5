//! SQL for MO messages to numbers that belong to no account.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::UnassignedInboundRows;

impl UnassignedInboundRows for SqliteTables<'_> {}
