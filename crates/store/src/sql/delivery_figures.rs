//! SQL for delivery figures per day, carrier, country and network.

use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Day;
use hermod_engine::ops::{DELIVERY_ROWS_MAX, DeliveryFigures, DeliveryRow};
use hermod_engine::tables::{DeliveryCell, DeliveryFigureRows, TableError};

impl DeliveryFigureRows for SqlTables<'_> {
    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError> {
        let DeliveryCell { day, carrier, country, network } = cell;
        let country = country.as_ref().map_or("", |country| country.as_str());
        let network = network.map(|network| network.to_string()).unwrap_or_default();
        let row: Option<DeliveryRow> = described::row(
            self.connection,
            "WHERE day = ?1 AND carrier = ?2 AND country = ?3 AND network = ?4",
            params![day.get(), carrier.get(), country, network],
        )?;
        Ok(row.map(|row| row.figures))
    }
}

/// Returns the figures from one day to another, both included, of one carrier or of all; the newest days first, at most
/// [`DELIVERY_ROWS_MAX`] rows.
pub(crate) fn delivery_rows(
    connection: &Connection,
    from: Day,
    to: Day,
    carrier: Option<CarrierId>,
) -> Result<Vec<DeliveryRow>, TableError> {
    let rest = format!(
        "WHERE day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR carrier = ?3)
         ORDER BY day DESC, carrier, country, network LIMIT {DELIVERY_ROWS_MAX}"
    );
    described::rows(connection, &rest, params![from.get(), to.get(), carrier.map(CarrierId::get)])
}

#[cfg(test)]
#[path = "delivery_figures_tests.rs"]
mod tests;
