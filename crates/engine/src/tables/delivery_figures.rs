//! The table of delivery figures per day, carrier and network.

use crate::ops::DeliveryFigures;
use crate::tables::TableError;
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use serde::{Deserialize, Serialize};

/// The key of a row: what is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveryCell {
    pub day: Day,
    pub carrier: CarrierId,
    /// Unknown for numbers of no country.
    pub country: Option<Country>,
    /// Unknown where it does not follow from the number.
    pub network: Option<Network>,
}

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DeliveryFigureChange {
    Put {
        cell: DeliveryCell,
        figures: DeliveryFigures,
    },
    /// The rows of all days before this one are deleted.
    DeleteBefore(Day),
}

/// Reads and writes delivery figures per day, carrier and network.
pub trait DeliveryFigureRows {
    /// Applies a change.
    fn change_delivery_figures(&self, change: &DeliveryFigureChange) -> Result<(), TableError>;

    /// Returns the figures in a row.
    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError>;
}
