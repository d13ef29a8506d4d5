//! The end of a message's record. What it cost, and what was given back for it, is rolled up into the ledger in the same
//! transaction: one entry for an account's day of each, so that balances, statements and the audit add up for ever.

use super::{Mark, PURGED_PER_STEP_MAX, QUIET};
use crate::embedded::batch::Batch;
use crate::embedded::progress;
use crate::embedded::{blobs, schema};
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::LedgerKind;
use hermod_engine::tables::{Place, UNKNOWN_LINE};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

struct Row {
    id: MessageId,
    carrier: CarrierId,
    account: AccountId,
    cost: i64,
    settled_at: Option<i64>,
    origin: Option<Vec<u8>>,
}

/// What the messages of a step cost and what was given back for them, by account and day.
#[derive(Default)]
struct RolledUp(BTreeMap<(AccountId, Day, i64), i64>);

impl RolledUp {
    fn add(&mut self, account: AccountId, day: Day, kind: LedgerKind, amount: i64) -> Result<(), StoreFault> {
        let sum = self.0.entry((account, day, kind.to_stored())).or_default();
        *sum = sum.checked_add(amount).ok_or_else(|| StoreFault::damaged("a day's costs overflow"))?;
        Ok(())
    }
}

const fn is_under_way(state: PartState) -> bool {
    match state {
        PartState::Queued
        | PartState::Sending
        | PartState::InDoubt
        | PartState::Sent
        | PartState::Presumed
        | PartState::Enroute => true,
        PartState::Overdue
        | PartState::Delivered
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => false,
    }
}

impl Batch<'_> {
    /// The idempotency keys of the oldest day that has any, if it is before this one: from here on a request that comes
    /// again is a new one.
    pub(super) fn purge_keys(&mut self, before: Day) -> Result<u64, StoreFault> {
        let oldest = schema::bucket_days(self.connection, "key")?.first().copied();
        let Some(day) = oldest.filter(|day| *day < before.get()) else { return Ok(0) };
        let deleted = self.connection.execute(
            &format!("DELETE FROM key_{day} WHERE digest IN (SELECT digest FROM key_{day} LIMIT ?1)"),
            [PURGED_PER_STEP_MAX],
        )?;
        if deleted < usize::try_from(PURGED_PER_STEP_MAX).unwrap_or(usize::MAX) {
            self.books.keys.drop_day(self.tables, Day::new(day))?;
        }
        // The table itself is something too: the step was not for nothing.
        Ok(u64::try_from(deleted).unwrap_or(0).max(1))
    }

    /// How many messages it has dealt with.
    pub(super) fn purge_records(&mut self, before: MessageId) -> Result<u64, StoreFault> {
        let mut due = Vec::new();
        for row in self.next_records(before)? {
            if self.is_spoken_of(&row)? {
                break;
            }
            due.push(row);
        }
        let (Some(first), Some(last)) = (due.first(), due.last()) else { return Ok(0) };
        let range = params![first.id.as_i64(), last.id.as_i64()];
        let mut rolled_up = RolledUp::default();
        let mut refunds = Vec::new();
        for row in &due {
            rolled_up.add(row.account, row.id.accepted_at().day(), LedgerKind::RolledUpCosts, -row.cost)?;
            if let Some((entry, day, amount)) = self.refund_of(row.id)? {
                rolled_up.add(row.account, day, LedgerKind::RolledUpRefunds, amount)?;
                refunds.push(entry);
            }
            self.remove_beside(row)?;
        }
        // Before the refunds go: no number of an entry is given twice.
        self.write_rolled_up(&rolled_up)?;
        for entry in refunds {
            self.connection.prepare_cached("DELETE FROM ledger WHERE id = ?1")?.execute([entry])?;
        }
        for delete in [
            "DELETE FROM timeline WHERE message BETWEEN ?1 AND ?2",
            "DELETE FROM message WHERE id BETWEEN ?1 AND ?2",
        ] {
            self.connection.prepare_cached(delete)?.execute(range)?;
        }
        self.set_mark(Mark::Records, last.id.as_i64() + 1)?;
        let done = u64::try_from(due.len()).unwrap_or(0);
        self.tally.purged.messages += done;
        Ok(done)
    }

    fn next_records(&self, before: MessageId) -> Result<Vec<Row>, StoreFault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, carrier, account, cost, settled_at, origin FROM message
             WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        let bounds = params![self.mark(Mark::Records)?, before.as_i64(), PURGED_PER_STEP_MAX];
        let mut rows = statement.query(bounds)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(Row {
                id: MessageId::from_i64(row.get(0)?).ok_or_else(|| StoreFault::damaged("a message id"))?,
                carrier: CarrierId::new(row.get(1)?),
                account: AccountId::new(row.get(2)?),
                cost: row.get(3)?,
                settled_at: row.get(4)?,
                origin: row.get(5)?,
            });
        }
        Ok(found)
    }

    /// Something was said of it lately, or will be: it ended or was reported unknown not long ago, or it is under way.
    fn is_spoken_of(&self, row: &Row) -> Result<bool, StoreFault> {
        let quiet_since = self.now.minus(QUIET).as_millis();
        if let Some(settled_at) = row.settled_at {
            return Ok(settled_at > quiet_since);
        }
        let place = Place { carrier: row.carrier, account: row.account, message: row.id };
        let parts = progress::load(self.tables, place)?.map(|progress| progress.parts);
        if parts.is_some_and(|parts| parts.iter().any(|part| is_under_way(part.state))) {
            return Ok(true);
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT 1 FROM timeline WHERE message = ?1 AND what = ?2 AND at > ?3")?;
        Ok(statement.exists(params![row.id.as_i64(), UNKNOWN_LINE, quiet_since])?)
    }

    fn refund_of(&self, message: MessageId) -> Result<Option<(i64, Day, i64)>, StoreFault> {
        let mut statement =
            self.connection.prepare_cached("SELECT id, at, balance FROM ledger WHERE message = ?1")?;
        let found = statement.query_row([message.as_i64()], |row| {
            Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?).day(), row.get(2)?))
        });
        Ok(found.optional()?)
    }

    /// Its parts, if it never ended, and its short name.
    fn remove_beside(&mut self, row: &Row) -> Result<(), StoreFault> {
        self.books.standing.remove(&row.id);
        if row.settled_at.is_none() {
            self.connection
                .prepare_cached("DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3")?
                .execute(params![row.carrier.get(), row.account.get(), row.id.as_i64()])?;
        }
        let Some(blob) = &row.origin else { return Ok(()) };
        if let (_, Some(alias)) = blobs::origin_of(blob)? {
            self.connection
                .prepare_cached("DELETE FROM alias WHERE account = ?1 AND alias = ?2 AND message = ?3")?
                .execute(params![row.account.get(), alias.get(), row.id.as_i64()])?;
        }
        Ok(())
    }

    /// No balance changes: what these say was in the rows that go.
    fn write_rolled_up(&self, rolled_up: &RolledUp) -> Result<(), StoreFault> {
        for ((account, day, kind), amount) in rolled_up.0.iter().filter(|(_, amount)| **amount != 0) {
            let entry = params![account.get(), day.start().as_millis(), kind, amount];
            self.connection
                .prepare_cached(
                    "INSERT INTO ledger (account, at, kind, balance, credit_used, note) VALUES (?1, ?2, ?3, ?4, 0, '')
                     ON CONFLICT (account, at, kind) WHERE kind IN (6, 7)
                     DO UPDATE SET balance = balance + excluded.balance",
                )?
                .execute(entry)?;
        }
        Ok(())
    }
}
