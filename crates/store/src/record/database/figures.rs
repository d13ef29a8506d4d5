//! SQL for the statistics of the record.

use crate::record::database::rows::{
    dimension_to_stored, resolution_to_stored, scope_to_stored, start_to_stored, value_to_stored,
};
use crate::record::tally::{Collected, Counts, SharedCollected};
use crate::record::{Figures, Resolution, Value};
use crate::sql::{Connection, OptionalExtension, params};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A row of `statistic` without its figures, in the order of the table.
type RowKey = (u8, u32, u8, i64, Value);

/// Adds what one flush counted to the rows that are read back after a crash.
pub(super) fn append_counts(connection: &Connection, counts: &Counts) -> Result<(), TableError> {
    if !counts.is_empty() {
        connection.prepare_cached("INSERT INTO tail (counts) VALUES (?1)")?.execute([counts.to_octets()])?;
    }
    Ok(())
}

/// Reads back what was counted and is not in `statistic`.
pub(crate) fn read_collected(connection: &Connection) -> Result<Collected, TableError> {
    let mut collected = Collected::default();
    let mut statement = connection.prepare("SELECT counts FROM tail ORDER BY no")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let counts = Counts::of_octets(row.get_ref(0)?.as_blob()?).map_err(TableError::unreadable)?;
        collected.add(&counts);
    }
    Ok(collected)
}

/// Moves the collected figures to `statistic`, in one transaction.
pub(super) fn fold(
    connection: &Connection,
    collected: &SharedCollected,
    now: Timestamp,
) -> Result<(), TableError> {
    // Only the follower changes it, so it stays as it is until the commit.
    let folded = collected.lock().clone();
    if folded.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    {
        let mut find = transaction.prepare_cached(
            "SELECT figures FROM statistic
             WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3 AND start = ?4 AND value = ?5",
        )?;
        let mut put = transaction.prepare_cached(
            "INSERT INTO statistic (resolution, scope, dimension, start, value, figures)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET figures = excluded.figures",
        )?;
        for ((resolution, scope, dimension, start, value), mut figures) in rows_of(&folded, now) {
            let value = value_to_stored(&value);
            let key = params![resolution, scope, dimension, start, value];
            let before = find.query_row(key, |row| row.get::<Vec<u8>>(0)).optional()?;
            if let Some(before) = before {
                figures.add(&stored_figures(&before)?);
            }
            put.execute(params![resolution, scope, dimension, start, value, figures_to_stored(&figures)])?;
        }
        transaction.execute("DELETE FROM tail", [])?;
    }
    let mut current = collected.lock();
    transaction.commit()?;
    *current = Arc::default();
    Ok(())
}

/// Sums the figures of minutes up to the rows that they belong to, without those that are not kept any more.
fn rows_of(collected: &Collected, now: Timestamp) -> BTreeMap<RowKey, Figures> {
    let mut rows: BTreeMap<RowKey, Figures> = BTreeMap::new();
    for (key, series) in collected.all() {
        let scope = scope_to_stored(key.scope);
        let dimension = dimension_to_stored(key.dimension);
        let value = key.value.to_value();
        for (minute, figures) in series {
            for resolution in Resolution::ALL {
                let start = resolution.start_of(minute.start());
                if start >= now.minus(resolution.kept()) {
                    let row = (
                        resolution_to_stored(resolution),
                        scope,
                        dimension,
                        start_to_stored(start),
                        value.clone(),
                    );
                    rows.entry(row).or_default().add(figures);
                }
            }
        }
    }
    rows
}

/// Returns figures for the column.
pub(crate) fn figures_to_stored(figures: &Figures) -> Vec<u8> {
    postcard::to_extend(figures, Vec::new()).expect("figures can be encoded")
}

/// Returns the figures in a column.
pub(crate) fn stored_figures(octets: &[u8]) -> Result<Figures, TableError> {
    postcard::from_bytes(octets).map_err(TableError::unreadable)
}
