//! SQL for postings to accounts.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::LedgerRows;

impl LedgerRows for SqliteTables<'_> {}
