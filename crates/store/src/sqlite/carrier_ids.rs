//! SQL for the ids that carriers gave to parts.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::CarrierIdRows;

impl CarrierIdRows for SqliteTables<'_> {}
