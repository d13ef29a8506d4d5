//! The end of a message's record. What it cost, and what was given back for it, is rolled up into the ledger in the same
//! transaction: one entry for an account's day of each, so that balances, statements and the audit add up for ever.

use super::{PURGED_PER_STEP_MAX, QUIET};
use crate::batch::Batch;
use crate::ops::LedgerKind;
use crate::tables::{MessageRange, Place, PurgeMark, RecordRow, RolledUpKey, TableError, UNKNOWN_LINE};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use std::collections::BTreeMap;

/// What the messages of a step cost and what was given back for them, by account and day.
#[derive(Default)]
struct RolledUp(BTreeMap<RolledUpKey, Money>);

impl RolledUp {
    fn add(&mut self, key: RolledUpKey, amount: Money) -> Result<(), TableError> {
        let sum = self.0.entry(key).or_insert(Money::ZERO);
        *sum = sum.checked_add(amount).ok_or_else(overflow)?;
        Ok(())
    }
}

fn overflow() -> TableError {
    TableError::unreadable("a day's costs overflow")
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
    pub fn purge_keys(&mut self, before: Day) -> Result<u64, TableError> {
        let oldest = self.tables.key_days()?.first().copied();
        let Some(day) = oldest.filter(|day| *day < before) else { return Ok(0) };
        let deleted = self.tables.delete_keys(day, PURGED_PER_STEP_MAX)?;
        if deleted < PURGED_PER_STEP_MAX {
            self.books.keys.drop_day(self.tables, day)?;
        }
        // The table itself is something too: the step was not for nothing.
        Ok(u64::from(deleted).max(1))
    }

    /// How many messages it has dealt with.
    pub fn purge_records(&mut self, before: MessageId) -> Result<u64, TableError> {
        let mut due = Vec::new();
        for row in self.next_records(before)? {
            if self.is_spoken_of(&row)? {
                break;
            }
            due.push(row);
        }
        let (Some(first), Some(last)) = (due.first(), due.last()) else { return Ok(0) };
        let range = MessageRange { first: first.id, last: last.id };
        let mut rolled_up = RolledUp::default();
        let mut refunds = Vec::new();
        for row in &due {
            let (account, day) = (row.account, row.id.accepted_at().day());
            let key = RolledUpKey { account, day, kind: LedgerKind::RolledUpCosts };
            rolled_up.add(key, row.cost.checked_neg().ok_or_else(overflow)?)?;
            if let Some(refund) = self.tables.refund_of(row.id)? {
                let day = refund.at.day();
                let key = RolledUpKey { account, day, kind: LedgerKind::RolledUpRefunds };
                rolled_up.add(key, refund.amount)?;
                refunds.push(refund.posting);
            }
            self.remove_beside(row)?;
        }
        // Before the refunds go: no number of an entry is given twice.
        self.write_rolled_up(&rolled_up)?;
        refunds.into_iter().try_for_each(|posting| self.tables.delete_posting(posting))?;
        self.tables.delete_timelines(range)?;
        self.tables.delete_set_aside(range)?;
        self.tables.delete_messages(range)?;
        self.tables.put_last_purged(PurgeMark::Records, range.last)?;
        let done = u64::try_from(due.len()).unwrap_or(0);
        self.tally.purged.messages += done;
        Ok(done)
    }

    fn next_records(&self, before: MessageId) -> Result<Vec<RecordRow>, TableError> {
        let after = self.tables.last_purged(PurgeMark::Records)?;
        self.tables.records_between(after, before, PURGED_PER_STEP_MAX)
    }

    /// Something was said of it lately, or will be: it ended or was reported unknown not long ago, or it is under way.
    fn is_spoken_of(&self, row: &RecordRow) -> Result<bool, TableError> {
        let quiet_since = self.now.minus(QUIET);
        if let Some(settled_at) = row.settled_at {
            return Ok(settled_at > quiet_since);
        }
        let parts = self.tables.part_states(place_of(row))?;
        if parts.iter().any(|part| is_under_way(part.state)) {
            return Ok(true);
        }
        let unknown_at = self.tables.last_timeline_line(row.id, UNKNOWN_LINE)?;
        Ok(unknown_at.is_some_and(|at| at > quiet_since))
    }

    /// Its parts, if it never ended, and its short name.
    fn remove_beside(&mut self, row: &RecordRow) -> Result<(), TableError> {
        self.books.standing.remove(&row.id);
        if row.settled_at.is_none() {
            self.tables.delete_parts(place_of(row))?;
        }
        if let Some(alias) = row.alias
            && self.tables.aliased_message(row.account, alias)? == Some(row.id)
        {
            self.tables.delete_alias(row.account, alias)?;
        }
        Ok(())
    }

    /// No balance changes: what these say was in the rows that go.
    fn write_rolled_up(&self, rolled_up: &RolledUp) -> Result<(), TableError> {
        for (key, amount) in rolled_up.0.iter().filter(|(_, amount)| **amount != Money::ZERO) {
            let before = self.tables.rolled_up_amount(*key)?.unwrap_or(Money::ZERO);
            self.tables.put_rolled_up(*key, before.checked_add(*amount).ok_or_else(overflow)?)?;
        }
        Ok(())
    }
}

fn place_of(row: &RecordRow) -> Place {
    Place { carrier: row.carrier, account: row.account, message: row.id }
}
