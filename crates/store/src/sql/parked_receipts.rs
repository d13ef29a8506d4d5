//! SQL for parked receipts, and for the counts of receipts that were given up.

use crate::sql::carrier_ids::{read_id, split_id};
use crate::sql::{Connection, Params, SqlTables, described, params};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{PAGE_ROWS_MAX, ParkedReceipt, ReceiptLoss};
use hermod_engine::tables::{ParkedReceiptRows, ParkedRow, TableError};

impl ParkedReceiptRows for SqlTables<'_> {
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
        let key = params![carrier.get(), key.octets(), raw];
        let row: Option<ParkedRow> =
            described::row(self.connection, "WHERE carrier = ?1 AND key = ?2 AND raw = ?3", key)?;
        Ok(row.map(|row| row.receipt))
    }

    fn parked_receipts_with_key(
        &self,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let bounds = params![carrier.get(), key.octets(), limit];
        receipts(self.connection, "WHERE carrier = ?1 AND key = ?2 LIMIT ?3", bounds)
    }

    fn parked_receipts_about(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
        newest: u32,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let rest =
            "FROM (SELECT * FROM parked WHERE carrier = ?1 AND at >= ?2 ORDER BY at DESC LIMIT ?4) AS newest
             WHERE source = ?3 LIMIT ?5";
        let to = to.number().cast_signed();
        receipts(self.connection, rest, params![carrier.get(), since.as_millis(), to, newest, limit])
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
        let rest = "WHERE carrier = ?1 AND (key, raw) > (?2, ?3) ORDER BY key, raw LIMIT ?4";
        receipts(self.connection, rest, params![carrier.get(), key, raw, limit])
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

    fn parked_later_than(&self, at: Timestamp) -> Result<Vec<ParkedRow>, TableError> {
        described::rows(self.connection, "WHERE at > ?1", [at.as_millis()])
    }

    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError> {
        let key = params![day.get(), carrier.get()];
        described::row(self.connection, "WHERE day = ?1 AND carrier = ?2", key)
    }
}

/// Returns a carrier's parked receipts, the latest first, at most [`PAGE_ROWS_MAX`].
pub(crate) fn latest_parked(
    connection: &Connection,
    carrier: CarrierId,
    limit: u32,
) -> Result<Vec<ParkedReceipt>, TableError> {
    let bounds = params![carrier.get(), limit.min(PAGE_ROWS_MAX)];
    receipts(connection, "WHERE carrier = ?1 ORDER BY at DESC LIMIT ?2", bounds)
}

/// Returns how many receipts were given up from one day to another, both included, the newest first.
pub(crate) fn receipt_losses(
    connection: &Connection,
    from: Day,
    to: Day,
) -> Result<Vec<ReceiptLoss>, TableError> {
    let rest = "WHERE day BETWEEN ?1 AND ?2 ORDER BY day DESC, carrier LIMIT ?3";
    described::rows(connection, rest, params![from.get(), to.get(), PAGE_ROWS_MAX])
}

fn receipts(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> Result<Vec<ParkedReceipt>, TableError> {
    let rows: Vec<ParkedRow> = described::rows(connection, rest, params)?;
    Ok(rows.into_iter().map(|row| row.receipt).collect())
}

#[cfg(test)]
#[path = "parked_receipts_tests.rs"]
mod tests;
