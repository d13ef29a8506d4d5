//! The table of delivery figures per day, carrier and network.

use crate::ops::DeliveryFigures;
use crate::tables::TableError;
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;

/// The key of a row: what is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryCell {
    pub day: Day,
    pub carrier: CarrierId,
    /// Unknown for numbers of no country.
    pub country: Option<Country>,
    /// Unknown where it does not follow from the number.
    pub network: Option<Network>,
}

/// Reads and writes delivery figures per day, carrier and network.
pub trait DeliveryFigureRows {
    /// Returns the figures in a row.
    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError>;

    /// Writes a row, new or not.
    fn put_delivery_figures(&self, cell: &DeliveryCell, figures: &DeliveryFigures) -> Result<(), TableError>;

    /// Deletes the rows of all days before this one.
    fn delete_delivery_figures_before(&self, day: Day) -> Result<(), TableError>;
}
