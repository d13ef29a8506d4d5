//! SQL for short message ids for binds that cannot take long ones.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::AliasRows;

impl AliasRows for SqliteTables<'_> {}
