//! Receipts that found no part: the answer is still to come, the carrier writes its ids in a way nobody has told us of,
//! or they are not ours. They wait in a table of their own, are tried again, and are given up after a while.

use crate::embedded::remote_days::read_id;
use crate::embedded::remotes::split_id;
use crate::fault::StoreFault;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{PARKED_KEPT, PARKED_PER_CARRIER_MAX, ParkedReceipt};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

/// Parked receipts with one key that are tried when an answer brings it.
const SAME_KEY_MAX: u32 = 64;
/// Parked receipts of the last minute that are looked through for a number.
const LATELY_MAX: u32 = 1_000;
/// Receipts given up in one transaction.
pub(crate) const GIVEN_UP_PER_BATCH_MAX: u64 = 1_000;

pub(crate) const COLUMNS: &str = "key, raw, verdict, err, word, source, at, ambiguous";

/// How many are parked, by carrier. An ordinary answer asks this and nothing else.
pub(crate) struct Parked {
    counts: HashMap<CarrierId, u64>,
    /// What the counts of the carriers that the batch under way has touched were before it.
    before: HashMap<CarrierId, u64>,
    limit: u64,
}

/// Why a receipt is not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenUp {
    TooOld,
    CrowdedOut,
}

impl Parked {
    pub(crate) fn load(connection: &Connection) -> Result<Parked, StoreFault> {
        let mut statement = connection.prepare("SELECT carrier, count(*) FROM parked GROUP BY carrier")?;
        let rows = statement
            .query_map([], |row| Ok((CarrierId::new(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned())))?;
        let counts = rows.collect::<Result<_, _>>()?;
        Ok(Parked { counts, before: HashMap::new(), limit: PARKED_PER_CARRIER_MAX })
    }

    pub(crate) fn count(&self, carrier: CarrierId) -> u64 {
        self.counts.get(&carrier).copied().unwrap_or(0)
    }

    fn set(&mut self, carrier: CarrierId, count: u64) {
        let before = self.counts.insert(carrier, count).unwrap_or(0);
        self.before.entry(carrier).or_insert(before);
    }

    pub(crate) fn committed(&mut self) {
        self.before.clear();
    }

    pub(crate) fn rolled_back(&mut self) {
        self.counts.extend(self.before.drain());
    }

    /// Keeps a receipt. Of several about one id a final one stays, and the first of those; returns how many had to go
    /// for it because there were too many.
    pub(crate) fn park(
        &mut self,
        connection: &Connection,
        carrier: CarrierId,
        receipt: &ParkedReceipt,
    ) -> Result<u64, StoreFault> {
        if let Some(earlier) = find(connection, carrier, &receipt.remote)? {
            if outdoes(receipt.verdict, earlier.verdict) {
                write(connection, carrier, receipt)?;
            } else if receipt.ambiguous && !earlier.ambiguous {
                self.is_ambiguous(connection, carrier, &receipt.remote)?;
            }
            return Ok(0);
        }
        let crowded_out = if self.count(carrier) >= self.limit {
            self.give_up(connection, carrier, 1, receipt.at, GivenUp::CrowdedOut)?
        } else {
            0
        };
        write(connection, carrier, receipt)?;
        self.set(carrier, self.count(carrier) + 1);
        Ok(crowded_out)
    }

    /// Those that an answer with this key may be the one for.
    pub(crate) fn under(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        key: &RemoteKey,
    ) -> Result<Vec<ParkedReceipt>, StoreFault> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND key = ?2 LIMIT {SAME_KEY_MAX}"
        ))?;
        let mut rows = statement.query(params![carrier.get(), key.octets()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Up to two receipts about a number that came since then.
    pub(crate) fn lately_about(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
    ) -> Result<Vec<ParkedReceipt>, StoreFault> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM (SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND at >= ?2
                 ORDER BY at DESC LIMIT {LATELY_MAX}) WHERE source = ?3 LIMIT 2"
        ))?;
        let mut rows =
            statement.query(params![carrier.get(), since.as_millis(), to.number().cast_signed()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// It has found its part.
    pub(crate) fn remove(
        &mut self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<(), StoreFault> {
        let (key, raw) = split_id(remote);
        let removed = connection
            .prepare_cached("DELETE FROM parked WHERE carrier = ?1 AND key = ?2 AND raw = ?3")?
            .execute(params![carrier.get(), key.octets(), raw])?;
        if removed == 1 {
            self.set(carrier, self.count(carrier).saturating_sub(1));
        }
        Ok(())
    }

    pub(crate) fn is_ambiguous(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<(), StoreFault> {
        let (key, raw) = split_id(remote);
        connection
            .prepare_cached("UPDATE parked SET ambiguous = 1 WHERE carrier = ?1 AND key = ?2 AND raw = ?3")?
            .execute(params![carrier.get(), key.octets(), raw])?;
        Ok(())
    }

    /// Gives up, and counts, some of those that have waited long enough. Returns how many; it may be called again.
    pub(crate) fn give_up_old(&mut self, connection: &Connection, now: Timestamp) -> Result<u64, StoreFault> {
        let carriers: Vec<CarrierId> =
            self.counts.iter().filter(|(_, count)| **count > 0).map(|(carrier, _)| *carrier).collect();
        let mut given_up = 0;
        for carrier in carriers {
            let room = GIVEN_UP_PER_BATCH_MAX - given_up;
            given_up += self.give_up(connection, carrier, room, now, GivenUp::TooOld)?;
        }
        Ok(given_up)
    }

    /// The oldest go first.
    fn give_up(
        &mut self,
        connection: &Connection,
        carrier: CarrierId,
        limit: u64,
        now: Timestamp,
        why: GivenUp,
    ) -> Result<u64, StoreFault> {
        let before = match why {
            GivenUp::TooOld => now.minus(PARKED_KEPT).as_millis(),
            GivenUp::CrowdedOut => i64::MAX,
        };
        let given_up = connection
            .prepare_cached(
                "DELETE FROM parked WHERE (carrier, key, raw) IN (
                     SELECT carrier, key, raw FROM parked WHERE carrier = ?1 AND at < ?2 ORDER BY at LIMIT ?3)",
            )?
            .execute(params![carrier.get(), before, limit.cast_signed()])?;
        if given_up == 0 {
            return Ok(0);
        }
        let count = i64::try_from(given_up).expect("a thousand at most");
        let (too_old, crowded_out) = match why {
            GivenUp::TooOld => (count, 0),
            GivenUp::CrowdedOut => (0, count),
        };
        connection
            .prepare_cached(
                "INSERT INTO receipt_loss (day, carrier, too_old, crowded_out) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET too_old = too_old + excluded.too_old,
                     crowded_out = crowded_out + excluded.crowded_out",
            )?
            .execute(params![now.day().get(), carrier.get(), too_old, crowded_out])?;
        self.set(carrier, self.count(carrier).saturating_sub(count.cast_unsigned()));
        Ok(count.cast_unsigned())
    }
}

/// Says a later receipt about the same id more than an earlier one? A final word does, unless there is one already.
fn outdoes(later: Verdict, earlier: Verdict) -> bool {
    match (earlier, later) {
        (Verdict::NoNews, _) => true,
        (Verdict::Enroute | Verdict::Accepted, Verdict::NoNews) => false,
        (Verdict::Enroute | Verdict::Accepted, _) => true,
        (Verdict::Delivered | Verdict::Undeliverable | Verdict::Rejected | Verdict::Expired, _) => false,
    }
}

/// The receipt that is parked for this very id.
pub(crate) fn find(
    connection: &Connection,
    carrier: CarrierId,
    remote: &RemoteId,
) -> Result<Option<ParkedReceipt>, StoreFault> {
    let (key, raw) = split_id(remote);
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND key = ?2 AND raw = ?3"
        ))?
        .query_row(params![carrier.get(), key.octets(), raw], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

fn write(connection: &Connection, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), StoreFault> {
    let ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } = receipt;
    let (key, raw) = split_id(remote);
    connection
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

/// Reads [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>) -> Result<ParkedReceipt, StoreFault> {
    let source: Option<i64> = row.get(5)?;
    Ok(ParkedReceipt {
        remote: read_id(row, 0, 1)?,
        verdict: verdict_from_stored(row.get(2)?)?,
        err: row.get(3)?,
        word: row.get::<_, Option<String>>(4)?.map(String::into_boxed_str),
        source: source.and_then(|source| Msisdn::from_number(source.cast_unsigned())),
        at: Timestamp::from_millis(row.get(6)?),
        ambiguous: row.get(7)?,
    })
}

/// On disk for ever: add, never renumber.
fn verdict_to_stored(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Enroute => 1,
        Verdict::Delivered => 2,
        Verdict::Undeliverable => 3,
        Verdict::Rejected => 4,
        Verdict::Expired => 5,
        Verdict::NoNews => 6,
        Verdict::Accepted => 7,
    }
}

fn verdict_from_stored(number: i64) -> Result<Verdict, StoreFault> {
    Ok(match number {
        1 => Verdict::Enroute,
        2 => Verdict::Delivered,
        3 => Verdict::Undeliverable,
        4 => Verdict::Rejected,
        5 => Verdict::Expired,
        6 => Verdict::NoNews,
        7 => Verdict::Accepted,
        other => return Err(StoreFault::damaged(format!("{other} is no receipt verdict"))),
    })
}

#[cfg(test)]
#[path = "parked_tests.rs"]
mod tests;
