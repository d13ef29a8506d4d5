//! Delivery figures per day, carrier and network.

use super::MemoryTables;
use hermod_engine::ops::DeliveryFigures;
use hermod_engine::tables::{DeliveryCell, DeliveryFigureChange, DeliveryFigureRows, TableError};

impl DeliveryFigureRows for MemoryTables {
    fn change_delivery_figures(&self, change: &DeliveryFigureChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            DeliveryFigureChange::Put { cell, figures } => rows.delivery.put(stored_cell(cell), *figures),
            DeliveryFigureChange::DeleteBefore(day) => {
                rows.delivery.delete_where(|key, _| key.0 < day.get());
            }
        }
        Ok(())
    }

    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError> {
        Ok(self.read().delivery.get(&stored_cell(cell)).copied())
    }
}

fn stored_cell(cell: &DeliveryCell) -> (i64, u32, String, String) {
    let DeliveryCell { day, carrier, country, network } = cell;
    let country = country.map(|country| country.as_str().to_owned()).unwrap_or_default();
    let network = network.map(|network| network.to_string()).unwrap_or_default();
    (day.get(), carrier.get(), country, network)
}
