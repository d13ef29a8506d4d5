//! How well carriers deliver, counted as parts settle and never by looking at old rows. Counts are gathered in memory
//! and written every few seconds: a crash loses the seconds since, which figures bear and messages would not.

use crate::embedded::Embedded;
use crate::embedded::remotes::Tie;
use crate::fault::StoreFault;
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::Verdict;
use hermod_domain::numbers::{Country, Destination, Network, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{
    DELIVERY_DAYS_KEPT, DELIVERY_ROWS_MAX, DELIVERY_TIMES, DeliveryFigures, DeliveryRow,
};
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use std::time::Duration;

/// How long counts are gathered before they are written.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Counts gathered at most; with more they are written at once.
const CELLS_MAX: usize = 20_000;

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cell {
    day: Day,
    carrier: CarrierId,
    country: Option<Country>,
    network: Option<Network>,
}

impl Cell {
    fn of(day: Day, carrier: CarrierId, to: Option<Msisdn>) -> Cell {
        let Destination { country, network, .. } =
            to.map_or(Destination::UNKNOWN, |to| Numbers::embedded().find(to));
        Cell { day, carrier, country, network }
    }
}

/// One thing that happened to a part.
#[derive(Clone, Copy, Debug)]
enum Counted {
    Sent,
    /// After so long, where that is known.
    Delivered(Option<Duration>),
    Failed,
    Expired,
    Rejected,
}

#[derive(Default)]
pub(crate) struct DeliveryStats {
    /// Counted, durable in nothing yet.
    gathered: HashMap<Cell, DeliveryFigures>,
    /// When the first of those was counted.
    since: Option<Timestamp>,
    /// What the batch under way has counted. It counts once the batch is durable.
    counted: Vec<(Cell, Counted)>,
    /// The batch under way writes what was gathered.
    written: bool,
}

impl DeliveryStats {
    /// A carrier took a part.
    pub(crate) fn sent(&mut self, carrier: CarrierId, to: Msisdn, day: Day) {
        self.counted.push((Cell::of(day, carrier, Some(to)), Counted::Sent));
    }

    /// A receipt of that time moved a part.
    pub(crate) fn settled(&mut self, carrier: CarrierId, tie: &Tie, verdict: Verdict, at: Timestamp) {
        let counted = match verdict {
            Verdict::Delivered => Counted::Delivered(tie.at.map(|tied_at| at.since(tied_at))),
            Verdict::Undeliverable => Counted::Failed,
            Verdict::Expired => Counted::Expired,
            Verdict::Rejected => Counted::Rejected,
            Verdict::Enroute | Verdict::Accepted | Verdict::NoNews => return,
        };
        self.counted.push((Cell::of(tie.day, carrier, tie.to), counted));
    }

    /// When what was gathered is to be written.
    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        if self.gathered.len() > CELLS_MAX { self.since } else { self.since.map(|at| at.plus(WRITE_EVERY)) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.gathered.is_empty()
    }

    pub(crate) fn write_if_due(&mut self, connection: &Connection, now: Timestamp) -> Result<(), StoreFault> {
        if self.due_at().is_some_and(|due_at| due_at <= now) { self.write(connection) } else { Ok(()) }
    }

    /// Adds what was gathered to the rows.
    pub(crate) fn write(&mut self, connection: &Connection) -> Result<(), StoreFault> {
        for (cell, figures) in &self.gathered {
            write_cell(connection, cell, figures)?;
        }
        self.written = true;
        Ok(())
    }

    pub(crate) fn committed(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.written) {
            self.gathered.clear();
            self.since = None;
        }
        for (cell, counted) in self.counted.drain(..) {
            count(self.gathered.entry(cell).or_default(), counted);
            self.since.get_or_insert(now);
        }
    }

    pub(crate) fn rolled_back(&mut self) {
        self.written = false;
        self.counted.clear();
    }
}

fn count(figures: &mut DeliveryFigures, counted: Counted) {
    match counted {
        Counted::Sent => figures.sent += 1,
        Counted::Failed => figures.failed += 1,
        Counted::Expired => figures.expired += 1,
        Counted::Rejected => figures.rejected += 1,
        Counted::Delivered(time) => {
            figures.delivered += 1;
            let Some(time) = time else { return };
            let range = DELIVERY_TIMES.partition_point(|end| *end < time);
            if let Some(count) = figures.times.get_mut(range) {
                *count += 1;
            }
            figures.time_ms += u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        }
    }
}

const COLUMNS: &str = "day, carrier, country, network, sent, delivered, failed, expired, rejected,
    within_5s, within_15s, within_1m, within_5m, within_1h, longer, time_ms";

fn write_cell(connection: &Connection, cell: &Cell, figures: &DeliveryFigures) -> Result<(), StoreFault> {
    let Cell { day, carrier, country, network } = cell;
    let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = figures;
    let [within_5s, within_15s, within_1m, within_5m, within_1h, longer] = times;
    connection
        .prepare_cached(&format!(
            "INSERT INTO delivery ({COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT DO UPDATE SET sent = sent + excluded.sent, delivered = delivered + excluded.delivered,
                 failed = failed + excluded.failed, expired = expired + excluded.expired,
                 rejected = rejected + excluded.rejected, within_5s = within_5s + excluded.within_5s,
                 within_15s = within_15s + excluded.within_15s, within_1m = within_1m + excluded.within_1m,
                 within_5m = within_5m + excluded.within_5m, within_1h = within_1h + excluded.within_1h,
                 longer = longer + excluded.longer, time_ms = time_ms + excluded.time_ms"
        ))?
        .execute(params![
            day.get(),
            carrier.get(),
            country.map(|country| country.as_str().to_owned()).unwrap_or_default(),
            network.map(|network| network.to_string()).unwrap_or_default(),
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

pub(crate) fn drop_before(connection: &Connection, today: Day) -> Result<(), StoreFault> {
    for table in ["delivery", "receipt_loss"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE day < ?1"))?
            .execute([today.get() - DELIVERY_DAYS_KEPT])?;
    }
    Ok(())
}

impl Embedded {
    /// The delivery figures from the first day to the last, both included, of one carrier or of all; the newest days
    /// first, [`DELIVERY_ROWS_MAX`] rows at most. They may be some seconds behind.
    pub async fn delivery_stats(
        &self,
        from: Day,
        to: Day,
        carrier: Option<CarrierId>,
    ) -> Result<Vec<DeliveryRow>, StoreFault> {
        self.inner.readers.run(move |connection| read(connection, from, to, carrier)).await
    }
}

fn read(
    connection: &Connection,
    from: Day,
    to: Day,
    carrier: Option<CarrierId>,
) -> Result<Vec<DeliveryRow>, StoreFault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM delivery WHERE day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR carrier = ?3)
         ORDER BY day DESC, carrier, country, network LIMIT {DELIVERY_ROWS_MAX}"
    ))?;
    let mut rows = statement.query(params![from.get(), to.get(), carrier.map(CarrierId::get)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read_row(row)?);
    }
    Ok(found)
}

fn read_row(row: &Row<'_>) -> Result<DeliveryRow, StoreFault> {
    let (country, network): (String, String) = (row.get(2)?, row.get(3)?);
    let figure = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.cast_unsigned());
    Ok(DeliveryRow {
        day: Day::new(row.get(0)?),
        carrier: CarrierId::new(row.get(1)?),
        // A name that this release does not know any more is no reason to hide the figures.
        country: Country::parse(&country).ok(),
        network: Network::parse(&network).ok(),
        figures: DeliveryFigures {
            sent: figure(4)?,
            delivered: figure(5)?,
            failed: figure(6)?,
            expired: figure(7)?,
            rejected: figure(8)?,
            times: [figure(9)?, figure(10)?, figure(11)?, figure(12)?, figure(13)?, figure(14)?],
            time_ms: figure(15)?,
        },
    })
}

#[cfg(test)]
#[path = "delivery_stats_tests.rs"]
mod tests;
