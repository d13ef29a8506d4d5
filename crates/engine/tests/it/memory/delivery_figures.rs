//! Delivery figures per day, carrier and network.

use super::MemoryTables;
use hermod_engine::ops::DeliveryFigures;
use hermod_engine::tables::{DeliveryCell, DeliveryFigureRows, TableError};

impl DeliveryFigureRows for MemoryTables {
    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError> {
        let DeliveryCell { day, carrier, country, network } = *cell;
        Ok(self.read().delivery.get(&(day, carrier, country, network)).map(|row| row.figures))
    }
}
