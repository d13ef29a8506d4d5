//! Which part a carrier's id belongs to, one table per UTC day. The answer to a `submit_sm` and the receipt about it may
//! come in either order, so whichever is first makes the row: an answer writes the part, a receipt that finds no part
//! parks itself there, and the second one settles.
//!
//! A day's table is dropped whole: its messages were final, or reported UNKNOWN, within validity + 24 h, and late
//! receipts are matched for 72 h more.

use crate::embedded::recent::Recent;
use crate::embedded::schema;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::time::{Day, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::time::Duration;

const TABLE: &str = "remote";
/// After midnight, an answer also looks for a receipt that was parked before it. Links wait at most a minute for an
/// answer, so an hour is ample.
const MIDNIGHT_OVERLAP: Duration = Duration::from_secs(3600);
/// Validity (3 days) + the wait for a receipt (1) + late receipts (3), and the day itself.
pub(crate) const DAYS_KEPT: i64 = 8;

/// The part a carrier's id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartKey {
    pub account: AccountId,
    pub message: MessageId,
    pub part: PartNo,
}

/// A receipt that came before the answer it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parked {
    pub verdict: Verdict,
    pub err: u16,
}

pub(crate) enum Found {
    Part(PartKey),
    Parked(Parked),
}

/// What came of tying an id to a part.
pub(crate) enum Tied {
    New,
    /// A receipt was waiting for it.
    WithReceipt(Parked),
    /// The carrier gave the same id before, for another part. The newer one has it now.
    Reused,
}

struct RemoteDay {
    day: i64,
    find_sql: String,
    insert_sql: String,
    tie_sql: String,
}

/// The days that have carrier ids, newest first.
pub(crate) struct RemoteDays {
    days: Vec<RemoteDay>,
    /// Ids tied lately. Most receipts come soon after the answer.
    recent: Recent<(CarrierId, RemoteId), PartKey>,
}

impl RemoteDays {
    pub(crate) fn load(connection: &Connection) -> Result<RemoteDays, StoreFault> {
        let days = schema::bucket_days(connection, TABLE)?.into_iter().rev().map(RemoteDay::new).collect();
        Ok(RemoteDays { days, recent: Recent::new() })
    }

    pub(crate) fn find(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<Found>, StoreFault> {
        if let Some(part) = self.recent.get(&(carrier, remote.clone())) {
            return Ok(Some(Found::Part(*part)));
        }
        for day in &self.days {
            if let Some(found) = day.find(connection, carrier, remote)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Ties the id to a part.
    pub(crate) fn tie(
        &mut self,
        connection: &Connection,
        now: Timestamp,
        carrier: CarrierId,
        remote: &RemoteId,
        part: PartKey,
    ) -> Result<Tied, StoreFault> {
        let tied = self.write(connection, now, carrier, remote, part)?;
        self.recent.insert((carrier, remote.clone()), part);
        Ok(tied)
    }

    /// On the usual way this is a single insert.
    fn write(
        &mut self,
        connection: &Connection,
        now: Timestamp,
        carrier: CarrierId,
        remote: &RemoteId,
        part: PartKey,
    ) -> Result<Tied, StoreFault> {
        let index = self.today(connection, now.day())?;
        if now.since(now.day().start()) < MIDNIGHT_OVERLAP
            && let Some(day) = self.days.get(index + 1).filter(|day| day.day + 1 == now.day().get())
            && let Some(Found::Parked(parked)) = day.find(connection, carrier, remote)?
        {
            day.tie(connection, carrier, remote, part)?;
            return Ok(Tied::WithReceipt(parked));
        }
        let day = &self.days[index];
        let PartKey { account, message, part: no } = part;
        let inserted = connection.prepare_cached(&day.insert_sql)?.execute(params![
            carrier.get(),
            remote.octets(),
            account.get(),
            message.as_i64(),
            no.get(),
            None::<i64>,
            0,
        ])?;
        if inserted == 1 {
            return Ok(Tied::New);
        }
        let before = day.find(connection, carrier, remote)?;
        day.tie(connection, carrier, remote, part)?;
        Ok(match before {
            Some(Found::Parked(parked)) => Tied::WithReceipt(parked),
            Some(Found::Part(other)) if other == part => Tied::New,
            Some(Found::Part(_)) | None => Tied::Reused,
        })
    }

    /// Keeps a receipt that found no part until the answer comes. The first one stays.
    pub(crate) fn park(
        &mut self,
        connection: &Connection,
        today: Day,
        carrier: CarrierId,
        remote: &RemoteId,
        parked: Parked,
    ) -> Result<(), StoreFault> {
        let index = self.today(connection, today)?;
        connection.prepare_cached(&self.days[index].insert_sql)?.execute(params![
            carrier.get(),
            remote.octets(),
            0,
            0,
            0,
            verdict_to_stored(parked.verdict),
            parked.err
        ])?;
        Ok(())
    }

    /// Replaces a parked intermediate receipt by a later one.
    pub(crate) fn repark(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
        parked: Parked,
    ) -> Result<(), StoreFault> {
        for day in &self.days {
            let sql = format!(
                "UPDATE {TABLE}_{} SET verdict = ?3, err = ?4 WHERE carrier = ?1 AND remote = ?2 AND message = 0",
                day.day
            );
            connection.prepare_cached(&sql)?.execute(params![
                carrier.get(),
                remote.octets(),
                verdict_to_stored(parked.verdict),
                parked.err
            ])?;
        }
        Ok(())
    }

    /// Drops the days nobody can ask for any more.
    pub(crate) fn drop_before(&mut self, connection: &Connection, today: Day) -> Result<(), StoreFault> {
        for day in self.days.iter().filter(|day| day.day + DAYS_KEPT < today.get()) {
            connection.execute_batch(&format!("DROP TABLE {TABLE}_{}", day.day))?;
        }
        self.days.retain(|day| day.day + DAYS_KEPT >= today.get());
        self.recent.clear();
        Ok(())
    }

    fn today(&mut self, connection: &Connection, today: Day) -> Result<usize, StoreFault> {
        if let Some(index) = self.days.iter().position(|known| known.day == today.get()) {
            return Ok(index);
        }
        connection.execute_batch(&format!(
            "CREATE TABLE {TABLE}_{} (
                 carrier INTEGER NOT NULL, remote BLOB NOT NULL, account INTEGER NOT NULL,
                 message INTEGER NOT NULL, part INTEGER NOT NULL, verdict INTEGER, err INTEGER NOT NULL,
                 PRIMARY KEY (carrier, remote)
             ) WITHOUT ROWID, STRICT",
            today.get()
        ))?;
        let place = self.days.iter().position(|known| known.day < today.get()).unwrap_or(self.days.len());
        self.days.insert(place, RemoteDay::new(today.get()));
        Ok(place)
    }
}

impl RemoteDay {
    fn new(day: i64) -> RemoteDay {
        RemoteDay {
            day,
            find_sql: format!(
                "SELECT account, message, part, verdict, err FROM {TABLE}_{day} WHERE carrier = ?1 AND remote = ?2"
            ),
            insert_sql: format!(
                "INSERT INTO {TABLE}_{day} (carrier, remote, account, message, part, verdict, err)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING"
            ),
            tie_sql: format!(
                "UPDATE {TABLE}_{day} SET account = ?3, message = ?4, part = ?5, verdict = NULL, err = 0
                 WHERE carrier = ?1 AND remote = ?2"
            ),
        }
    }

    fn find(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<Found>, StoreFault> {
        let row = connection
            .prepare_cached(&self.find_sql)?
            .query_row(params![carrier.get(), remote.octets()], |row| Ok(read_found(row)))
            .optional()?;
        row.transpose()
    }

    fn tie(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
        part: PartKey,
    ) -> Result<(), StoreFault> {
        connection.prepare_cached(&self.tie_sql)?.execute(params![
            carrier.get(),
            remote.octets(),
            part.account.get(),
            part.message.as_i64(),
            part.part.get()
        ])?;
        Ok(())
    }
}

fn read_found(row: &Row<'_>) -> Result<Found, StoreFault> {
    if let Some(verdict) = row.get::<_, Option<i64>>(3)? {
        return Ok(Found::Parked(Parked { verdict: verdict_from_stored(verdict)?, err: row.get(4)? }));
    }
    let message =
        MessageId::from_i64(row.get(1)?).ok_or_else(|| StoreFault::damaged("a carrier id's message"))?;
    let part = PartNo::new(row.get(2)?).ok_or_else(|| StoreFault::damaged("a carrier id's part"))?;
    Ok(Found::Part(PartKey { account: AccountId::new(row.get(0)?), message, part }))
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
        other => return Err(StoreFault::damaged(format!("{other} is no receipt verdict"))),
    })
}

#[cfg(test)]
#[path = "remotes_tests.rs"]
mod tests;
