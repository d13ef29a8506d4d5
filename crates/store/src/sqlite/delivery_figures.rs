//! SQL for delivery figures per carrier, network and day.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::DeliveryFigureRows;

impl DeliveryFigureRows for SqliteTables<'_> {}
