//! SQL for receipts that wait for the answer that brings their id.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::ParkedReceiptRows;

impl ParkedReceiptRows for SqliteTables<'_> {}
