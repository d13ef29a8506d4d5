//! Deletes the records of messages. Their costs and refunds are rolled up into the ledger in the same transaction, one
//! entry for each account, day and kind, so that balances, statements and the audit still add up. No balance changes:
//! an entry replaces exactly the amounts of the deleted rows.

use super::{PURGED_PER_STEP_MAX, QUIET};
use crate::batch::Batch;
use crate::ops::{Balance, EarlierCost, LedgerKind};
use crate::set_aside;
use crate::tables::{
    AliasRow, CarrierRefusal, MessageExceptionRow, MessageKey, MessageRange, PartChange, Posting,
    PurgeChange, PurgeMark, RecordRow, Refund, RolledUpKey, RowChange, SetAsideChange, TableError, Tables,
    UnreadableMessage, UnreadablePart,
};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::money::Money;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

/// Messages whose records may be due, in order.
type RecordPage = Vec<Result<RecordRow, UnreadableMessage>>;

/// The rolled-up entries of a step: their amounts before it plus the costs and refunds of its messages.
#[derive(Default)]
struct RolledUp(BTreeMap<RolledUpKey, Money>);

/// The sum does not fit an amount.
struct Overflow;

impl RolledUp {
    /// Adds the cost and the refund of a message. Adds neither if a sum overflows.
    fn add(
        &mut self,
        tables: &Tables<'_>,
        row: &RecordRow,
        refund: Option<&Refund>,
    ) -> Result<Result<(), Overflow>, TableError> {
        let (account, day) = (row.account, row.id.accepted_at().day());
        let costs = RolledUpKey { account, day, kind: LedgerKind::RolledUpCosts };
        let mut sums: SmallVec<[_; 2]> = smallvec![(costs, row.cost.checked_neg())];
        if let Some(Refund { at, amount, .. }) = refund {
            let refunds = RolledUpKey { account, day: at.day(), kind: LedgerKind::RolledUpRefunds };
            sums.push((refunds, Some(*amount)));
        }
        sums.retain(|(_, amount)| *amount != Some(Money::ZERO));
        for (key, amount) in &mut sums {
            let before = match self.0.get(key) {
                Some(before) => *before,
                None => tables.read()?.rolled_up(*key)?.map_or(Money::ZERO, |posting| posting.change.balance),
            };
            *amount = amount.and_then(|amount| before.checked_add(amount));
        }
        if sums.iter().any(|(_, sum)| sum.is_none()) {
            return Ok(Err(Overflow));
        }
        self.0.extend(sums.into_iter().filter_map(|(key, sum)| Some((key, sum?))));
        Ok(Ok(()))
    }
}

/// Whether a part may still change.
const fn can_still_change(state: PartState) -> bool {
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

/// Deletes the records of some messages before this one. Returns how many messages it passed. A message that cannot
/// be read, or whose cost overflows the day's entry, is set aside and stays. A message whose parts are set aside stays
/// too: it was charged, and neither sent nor refunded.
pub(super) fn purge_before(batch: &mut Batch<'_>, before: MessageId) -> Result<u64, TableError> {
    let page = next_page(batch, before)?;
    let mut refunds = refunds_of(batch, &page)?.into_iter().peekable();
    let mut rolled_up = RolledUp::default();
    let mut ranges: Vec<MessageRange> = Vec::new();
    let (mut done, mut last, mut is_behind_gap) = (0, None, true);
    for row in page {
        let id = match row {
            Ok(row) if may_still_be_reported(batch, &row)? => break,
            Ok(row) if has_parts_set_aside(batch, &row)? => {
                is_behind_gap = true;
                row.id
            }
            Ok(row) => {
                let refund = next_refund(&mut refunds, row.id);
                match rolled_up.add(batch.tables, &row, refund.as_ref())? {
                    Ok(()) => {
                        remove_beside(batch, &row)?;
                        extend(&mut ranges, row.id, is_behind_gap);
                        is_behind_gap = false;
                    }
                    Err(Overflow) => {
                        let reason = format!("cost {}: a day's costs overflow", row.cost);
                        set_aside::list(batch, UnreadablePart { key: key_of(&row).into(), reason })?;
                        is_behind_gap = true;
                    }
                }
                row.id
            }
            Err(UnreadableMessage { id, part }) => {
                set_aside::list(batch, part)?;
                is_behind_gap = true;
                id
            }
        };
        last = Some(id);
        done += 1;
    }
    let Some(last) = last else { return Ok(0) };
    // Before the timelines are deleted, so that the steps of this batch are deleted with them.
    batch.keep_steps();
    // Before the refunds are deleted, so that no entry id is used twice.
    write_rolled_up(batch, &rolled_up)?;
    ranges.into_iter().for_each(|range| delete(batch, range));
    batch.tables.write(PurgeChange::Mark { mark: PurgeMark::Records, last });
    batch.results.tally.messages_purged += done;
    Ok(done)
}

/// Writes the rolled-up entries: new ones, and new amounts of those that exist.
fn write_rolled_up(batch: &mut Batch<'_>, rolled_up: &RolledUp) -> Result<(), TableError> {
    for (key, amount) in &rolled_up.0 {
        let (key, amount) = (*key, *amount);
        if let Some(posting) = batch.tables.read()?.rolled_up(key)? {
            let change = Balance { balance: amount, ..posting.change };
            batch.tables.write(RowChange::Put(Posting { change, ..posting }));
            continue;
        }
        batch.tables.write(RowChange::Add(Posting {
            id: batch.state.last_ids.next_posting(),
            account: key.account,
            at: key.day.start(),
            kind: key.kind,
            change: Balance { balance: amount, credit_used: Money::ZERO },
            message: None,
            reference: None,
            note: String::new(),
        }));
    }
    Ok(())
}

/// Deletes all rows of a range of messages.
fn delete(batch: &Batch<'_>, range: MessageRange) {
    batch.tables.write(RowChange::<Posting>::delete_in([("message", range.stored())]));
    batch.tables.write(PurgeChange::DeleteTimelines(range));
    batch.tables.write(RowChange::<MessageExceptionRow>::delete_in([("message", range.stored())]));
    batch.tables.write(RowChange::<CarrierRefusal>::delete_in([("message", range.stored())]));
    batch.tables.write(RowChange::<EarlierCost>::delete_in([("message", range.stored())]));
    batch.tables.write(SetAsideChange::Delete(range));
    batch.tables.write(PurgeChange::DeleteMessages(range));
}

/// Returns the refunds of the messages on a page.
fn refunds_of(batch: &Batch<'_>, page: &RecordPage) -> Result<Vec<Refund>, TableError> {
    let id =
        |row: &Result<RecordRow, UnreadableMessage>| row.as_ref().map_or_else(|row| row.id, |row| row.id);
    match (page.first().map(id), page.last().map(id)) {
        (Some(first), Some(last)) => batch.tables.read()?.refunds(MessageRange { first, last }),
        (None, _) | (_, None) => Ok(Vec::new()),
    }
}

/// Returns the next messages behind the mark.
fn next_page(batch: &Batch<'_>, before: MessageId) -> Result<RecordPage, TableError> {
    let after = batch.tables.read()?.last_purged(PurgeMark::Records)?;
    batch.tables.read()?.records_between(after, before, PURGED_PER_STEP_MAX)
}

/// Whether a message ended or was reported UNKNOWN less than [`QUIET`] ago, or can still change.
fn may_still_be_reported(batch: &mut Batch<'_>, row: &RecordRow) -> Result<bool, TableError> {
    let quiet_since = batch.now.minus(QUIET);
    if let Some(settled_at) = row.settled_at {
        return Ok(settled_at > quiet_since);
    }
    let parts = batch.tables.read()?.part_states(key_of(row));
    let parts = set_aside::if_unreadable(batch, key_of(row), parts)?.unwrap_or_default();
    if parts.iter().any(|part| can_still_change(part.state)) {
        return Ok(true);
    }
    let unknown_at = batch.tables.read()?.message_exceptions(row.id)?.unknown_at;
    Ok(unknown_at.is_some_and(|at| at > quiet_since))
}

/// Whether parts of a message that never ended are set aside.
fn has_parts_set_aside(batch: &Batch<'_>, row: &RecordRow) -> Result<bool, TableError> {
    Ok(row.settled_at.is_none() && batch.tables.read()?.has_parts_set_aside(row.id)?)
}

/// Deletes the parts of a message that never ended, and its alias.
fn remove_beside(batch: &mut Batch<'_>, row: &RecordRow) -> Result<(), TableError> {
    batch.state.recent_messages.remove(&row.id);
    if row.settled_at.is_none() {
        batch.tables.write(PartChange::Delete(key_of(row)));
    }
    if let Some(alias) = row.alias
        && batch.tables.read()?.aliased_message(row.account, alias)? == Some(row.id)
    {
        batch.tables.write(RowChange::<AliasRow>::Delete((row.account, alias)));
    }
    Ok(())
}

/// Returns the refund of a message from refunds in the order of messages.
fn next_refund(refunds: &mut Peekable<IntoIter<Refund>>, message: MessageId) -> Option<Refund> {
    while refunds.next_if(|refund| refund.message < message).is_some() {}
    refunds.next_if(|refund| refund.message == message)
}

/// Adds a message to the last range, or starts a new range with it.
fn extend(ranges: &mut Vec<MessageRange>, message: MessageId, is_first: bool) {
    match ranges.last_mut() {
        Some(range) if !is_first => range.last = message,
        _ => ranges.push(MessageRange { first: message, last: message }),
    }
}

fn key_of(row: &RecordRow) -> MessageKey {
    MessageKey { carrier: row.carrier, account: row.account, message: row.id }
}
