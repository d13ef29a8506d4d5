//! SQL for delivery figures per day, carrier, country and network.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use hermod_engine::ops::{DELIVERY_ROWS_MAX, DeliveryFigures, DeliveryRow};
use hermod_engine::tables::{DeliveryCell, DeliveryFigureChange, DeliveryFigureRows, TableError};

const FIGURES: &str = "sent, delivered, failed, expired, rejected,
    within_5s, within_15s, within_1m, within_5m, within_1h, longer, time_ms";

impl SqlTables<'_> {
    fn put_delivery_figures(&self, cell: &DeliveryCell, figures: &DeliveryFigures) -> Result<(), TableError> {
        let DeliveryCell { day, carrier, country, network } = cell;
        let (country, network) = stored_names(*country, *network);
        let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = figures;
        let [within_5s, within_15s, within_1m, within_5m, within_1h, longer] = times;
        self.connection
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO delivery (day, carrier, country, network, {FIGURES})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
            ))?
            .execute(params![
                day.get(),
                carrier.get(),
                country,
                network,
                sent.cast_signed(),
                delivered.cast_signed(),
                failed.cast_signed(),
                expired.cast_signed(),
                rejected.cast_signed(),
                within_5s.cast_signed(),
                within_15s.cast_signed(),
                within_1m.cast_signed(),
                within_5m.cast_signed(),
                within_1h.cast_signed(),
                longer.cast_signed(),
                time_ms.cast_signed()
            ])?;
        Ok(())
    }

    fn delete_delivery_figures_before(&self, day: Day) -> Result<(), TableError> {
        self.connection.prepare_cached("DELETE FROM delivery WHERE day < ?1")?.execute([day.get()])?;
        Ok(())
    }
}

impl DeliveryFigureRows for SqlTables<'_> {
    fn change_delivery_figures(&self, change: &DeliveryFigureChange) -> Result<(), TableError> {
        match change {
            DeliveryFigureChange::Put { cell, figures } => self.put_delivery_figures(cell, figures),
            DeliveryFigureChange::DeleteBefore(day) => self.delete_delivery_figures_before(*day),
        }
    }

    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError> {
        let DeliveryCell { day, carrier, country, network } = cell;
        let (country, network) = stored_names(*country, *network);
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT {FIGURES} FROM delivery
                 WHERE day = ?1 AND carrier = ?2 AND country = ?3 AND network = ?4"
            ))?
            .query_row(params![day.get(), carrier.get(), country, network], |row| read_figures(row, 0))
            .optional()?)
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
    let mut statement = connection.prepare_cached(&format!(
        "SELECT day, carrier, country, network, {FIGURES} FROM delivery
         WHERE day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR carrier = ?3)
         ORDER BY day DESC, carrier, country, network LIMIT {DELIVERY_ROWS_MAX}"
    ))?;
    let rows = statement.query_map(params![from.get(), to.get(), carrier.map(CarrierId::get)], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn stored_names(country: Option<Country>, network: Option<Network>) -> (String, String) {
    let country = country.map(|country| country.as_str().to_owned()).unwrap_or_default();
    (country, network.map(|network| network.to_string()).unwrap_or_default())
}

fn read_row(row: &Row<'_>) -> Result<DeliveryRow, crate::sql::Error> {
    let (country, network): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(DeliveryRow {
        day: Day::new(row.get(0)?),
        carrier: CarrierId::new(row.get(1)?),
        // An unknown name is shown as none, so that the figures are still listed.
        country: Country::parse(&country).ok(),
        network: Network::parse(&network).ok(),
        figures: read_figures(row, 4)?,
    })
}

/// Reads [`FIGURES`], which begin at this column.
fn read_figures(row: &Row<'_>, first: usize) -> Result<DeliveryFigures, crate::sql::Error> {
    let figure = |column: usize| Ok::<_, crate::sql::Error>(row.get::<i64>(first + column)?.cast_unsigned());
    Ok(DeliveryFigures {
        sent: figure(0)?,
        delivered: figure(1)?,
        failed: figure(2)?,
        expired: figure(3)?,
        rejected: figure(4)?,
        times: [figure(5)?, figure(6)?, figure(7)?, figure(8)?, figure(9)?, figure(10)?],
        time_ms: figure(11)?,
    })
}

#[cfg(test)]
#[path = "delivery_figures_tests.rs"]
mod tests;
