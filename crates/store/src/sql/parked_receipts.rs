//! SQL for parked receipts, and for the counts of receipts that were given up.

use crate::sql::SqlTables;
use crate::sql::carrier_ids::{read_id, split_id};
use crate::sql::{Connection, OptionalExtension, Params, Row, params};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{PAGE_ROWS_MAX, ParkedReceipt, ReceiptLoss};
use hermod_engine::tables::{ParkedReceiptChange, ParkedReceiptRows, TableError};

const COLUMNS: &str = "key, raw, verdict, err, word, source, at, ambiguous";

impl SqlTables<'_> {
    fn put_parked_receipt(&self, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), TableError> {
        let ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } = receipt;
        let (key, raw) = split_id(remote);
        self.connection
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO parked (carrier, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
            ))?
            .execute(params![
                carrier.get(),
                key.octets(),
                raw,
                verdict_to_stored(*verdict),
                err,
                word.as_deref(),
                source.map(|source| source.number().cast_signed()),
                at.as_millis(),
                ambiguous
            ])?;
        Ok(())
    }

    fn put_parked_at(&self, carrier: CarrierId, remote: &RemoteId, at: Timestamp) -> Result<(), TableError> {
        let (key, raw) = split_id(remote);
        self.connection
            .prepare_cached("UPDATE parked SET at = ?4 WHERE carrier = ?1 AND key = ?2 AND raw = ?3")?
            .execute(params![carrier.get(), key.octets(), raw, at.as_millis()])?;
        Ok(())
    }

    fn mark_parked_receipt_ambiguous(&self, carrier: CarrierId, remote: &RemoteId) -> Result<(), TableError> {
        let (key, raw) = split_id(remote);
        self.connection
            .prepare_cached("UPDATE parked SET ambiguous = 1 WHERE carrier = ?1 AND key = ?2 AND raw = ?3")?
            .execute(params![carrier.get(), key.octets(), raw])?;
        Ok(())
    }

    fn delete_parked_receipt(&self, carrier: CarrierId, remote: &RemoteId) -> Result<(), TableError> {
        let (key, raw) = split_id(remote);
        self.connection
            .prepare_cached("DELETE FROM parked WHERE carrier = ?1 AND key = ?2 AND raw = ?3")?
            .execute(params![carrier.get(), key.octets(), raw])?;
        Ok(())
    }

    fn put_receipt_loss(&self, loss: &ReceiptLoss) -> Result<(), TableError> {
        let ReceiptLoss { day, carrier, too_old, crowded_out } = loss;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO receipt_loss (day, carrier, too_old, crowded_out) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![day.get(), carrier.get(), too_old.cast_signed(), crowded_out.cast_signed()])?;
        Ok(())
    }

    fn delete_receipt_losses_before(&self, day: Day) -> Result<(), TableError> {
        self.connection.prepare_cached("DELETE FROM receipt_loss WHERE day < ?1")?.execute([day.get()])?;
        Ok(())
    }
}

impl ParkedReceiptRows for SqlTables<'_> {
    fn change_parked_receipt(&self, change: &ParkedReceiptChange) -> Result<(), TableError> {
        match change {
            ParkedReceiptChange::Put { carrier, receipt } => self.put_parked_receipt(*carrier, receipt),
            ParkedReceiptChange::ParkedAt { carrier, remote, at } => {
                self.put_parked_at(*carrier, remote, *at)
            }
            ParkedReceiptChange::Ambiguous { carrier, remote } => {
                self.mark_parked_receipt_ambiguous(*carrier, remote)
            }
            ParkedReceiptChange::Delete { carrier, remote } => self.delete_parked_receipt(*carrier, remote),
            ParkedReceiptChange::Loss(loss) => self.put_receipt_loss(loss),
            ParkedReceiptChange::DeleteLossesBefore(day) => self.delete_receipt_losses_before(*day),
        }
    }

    fn parked_counts(&self) -> Result<Vec<(CarrierId, u64)>, TableError> {
        let mut statement =
            self.connection.prepare("SELECT carrier, count(*) FROM parked GROUP BY carrier")?;
        let rows = statement
            .query_map([], |row| Ok((CarrierId::new(row.get(0)?), row.get::<i64>(1)?.cast_unsigned())))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn parked_receipt(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<ParkedReceipt>, TableError> {
        let (key, raw) = split_id(remote);
        self.connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND key = ?2 AND raw = ?3"
            ))?
            .query_row(params![carrier.get(), key.octets(), raw], |row| Ok(read_row(row)))
            .optional()?
            .transpose()
    }

    fn parked_receipts_with_key(
        &self,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let sql = format!("SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND key = ?2 LIMIT ?3");
        read_rows(self.connection, &sql, params![carrier.get(), key.octets(), limit])
    }

    fn parked_receipts_about(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
        newest: u32,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM (SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND at >= ?2
                 ORDER BY at DESC LIMIT ?4) AS newest WHERE source = ?3 LIMIT ?5"
        );
        let to = to.number().cast_signed();
        read_rows(self.connection, &sql, params![carrier.get(), since.as_millis(), to, newest, limit])
    }

    fn parked_receipts_after(
        &self,
        carrier: CarrierId,
        after: Option<&RemoteId>,
        limit: usize,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let after = after.map(split_id);
        let (key, raw) = after.as_ref().map_or((&[][..], &[][..]), |(key, raw)| (key.octets(), *raw));
        let sql = format!(
            "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND (key, raw) > (?2, ?3)
             ORDER BY key, raw LIMIT ?4"
        );
        read_rows(self.connection, &sql, params![carrier.get(), key, raw, limit])
    }

    fn oldest_parked_ids(
        &self,
        carrier: CarrierId,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Vec<RemoteId>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, raw FROM parked WHERE carrier = ?1 AND at < ?2 ORDER BY at LIMIT ?3",
        )?;
        let before = before.map_or(i64::MAX, Timestamp::as_millis);
        let mut rows = statement.query(params![carrier.get(), before, limit.cast_signed()])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push(read_id(&row, 0, 1)?);
        }
        Ok(ids)
    }

    fn parked_ids_after(&self, at: Timestamp) -> Result<Vec<(CarrierId, RemoteId)>, TableError> {
        let mut statement = self.connection.prepare("SELECT carrier, key, raw FROM parked WHERE at > ?1")?;
        let mut rows = statement.query([at.as_millis()])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push((CarrierId::new(row.get(0)?), read_id(&row, 1, 2)?));
        }
        Ok(ids)
    }

    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT day, carrier, too_old, crowded_out FROM receipt_loss WHERE day = ?1 AND carrier = ?2",
            )?
            .query_row(params![day.get(), carrier.get()], read_loss)
            .optional()?)
    }
}

/// Returns a carrier's parked receipts, the latest first, at most [`PAGE_ROWS_MAX`].
pub(crate) fn latest_parked(
    connection: &Connection,
    carrier: CarrierId,
    limit: u32,
) -> Result<Vec<ParkedReceipt>, TableError> {
    let sql = format!("SELECT {COLUMNS} FROM parked WHERE carrier = ?1 ORDER BY at DESC LIMIT ?2");
    read_rows(connection, &sql, params![carrier.get(), limit.min(PAGE_ROWS_MAX)])
}

/// Returns how many receipts were given up from one day to another, both included, the newest first.
pub(crate) fn receipt_losses(
    connection: &Connection,
    from: Day,
    to: Day,
) -> Result<Vec<ReceiptLoss>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT day, carrier, too_old, crowded_out FROM receipt_loss WHERE day BETWEEN ?1 AND ?2
         ORDER BY day DESC, carrier LIMIT ?3",
    )?;
    let rows = statement.query_map(params![from.get(), to.get(), PAGE_ROWS_MAX], read_loss)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_rows(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<ParkedReceipt>, TableError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut receipts = Vec::new();
    while let Some(row) = rows.next()? {
        receipts.push(read_row(&row)?);
    }
    Ok(receipts)
}

/// Reads [`COLUMNS`].
fn read_row(row: &Row<'_>) -> Result<ParkedReceipt, TableError> {
    let source: Option<i64> = row.get(5)?;
    Ok(ParkedReceipt {
        remote: read_id(row, 0, 1)?,
        verdict: verdict_from_stored(row.get(2)?)?,
        err: row.get(3)?,
        word: row.get::<Option<String>>(4)?.map(String::into_boxed_str),
        source: source.and_then(|source| Msisdn::from_number(source.cast_unsigned())),
        at: Timestamp::from_millis(row.get(6)?),
        ambiguous: row.get(7)?,
    })
}

fn read_loss(row: &Row<'_>) -> Result<ReceiptLoss, crate::sql::Error> {
    Ok(ReceiptLoss {
        day: Day::new(row.get(0)?),
        carrier: CarrierId::new(row.get(1)?),
        too_old: row.get::<i64>(2)?.cast_unsigned(),
        crowded_out: row.get::<i64>(3)?.cast_unsigned(),
    })
}

/// Returns the stored form of a verdict. The numbers are permanent: add new ones, never renumber.
fn verdict_to_stored(verdict: DeliveryOutcome) -> i64 {
    match verdict {
        DeliveryOutcome::Enroute => 1,
        DeliveryOutcome::Delivered => 2,
        DeliveryOutcome::Undeliverable => 3,
        DeliveryOutcome::Rejected => 4,
        DeliveryOutcome::Expired => 5,
        DeliveryOutcome::NoChange => 6,
        DeliveryOutcome::Accepted => 7,
    }
}

fn verdict_from_stored(number: i64) -> Result<DeliveryOutcome, TableError> {
    Ok(match number {
        1 => DeliveryOutcome::Enroute,
        2 => DeliveryOutcome::Delivered,
        3 => DeliveryOutcome::Undeliverable,
        4 => DeliveryOutcome::Rejected,
        5 => DeliveryOutcome::Expired,
        6 => DeliveryOutcome::NoChange,
        7 => DeliveryOutcome::Accepted,
        other => return Err(TableError::unreadable(format!("{other} is not a receipt verdict"))),
    })
}

#[cfg(test)]
#[path = "parked_receipts_tests.rs"]
mod tests;
