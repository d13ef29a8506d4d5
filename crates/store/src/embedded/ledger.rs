//! Entries of the ledger: every change of a balance that is not a message's cost. Each row has two figures, and an
//! account's balance and credit in use are the sums of them.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::{AMOUNT_MAX, Money};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{
    Balance, LedgerEntry, LedgerKind, LedgerRow, PAGE_ROWS_MAX, PostOutcome, PostRefusal,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// In the order that [`read`] takes them in.
pub(crate) const COLUMNS: &str = "id, at, kind, balance, credit_used, message, reference, note";

impl Embedded {
    /// Changes a balance by a ledger entry. With a reference it can be repeated until its answer arrives.
    pub async fn post(&self, entry: LedgerEntry) -> Result<PostOutcome, StoreFault> {
        self.request(move |batch| batch.post(&entry)).await
    }

    /// An account's entries, newest first, from before an entry or from the end.
    pub async fn ledger(
        &self,
        account: AccountId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LedgerRow>, StoreFault> {
        self.inner.readers.run(move |connection| page(connection, account, before, limit)).await
    }

    /// The entry that was posted under a reference.
    pub async fn posted(
        &self,
        account: AccountId,
        reference: String,
    ) -> Result<Option<LedgerRow>, StoreFault> {
        self.inner.readers.run(move |connection| by_reference(connection, account, &reference)).await
    }
}

impl Batch<'_> {
    /// Writes an entry that somebody asked for, unless it is refused or was written before.
    pub(crate) fn post(&mut self, entry: &LedgerEntry) -> Result<PostOutcome, StoreFault> {
        if let Err(refusal) = check(entry) {
            return Ok(PostOutcome::Refused(refusal));
        }
        let before = self.books.balances.of(entry.account);
        if let Some(posted) = self.posted_before(entry)? {
            let same = posted.kind == entry.kind && amount(&posted) == Some(entry.amount);
            return Ok(if same {
                PostOutcome::Repeated { entry: posted.id, balance: before }
            } else {
                PostOutcome::Refused(PostRefusal::ReferenceTaken)
            });
        }
        let Some(change) = change(entry, before) else {
            return Ok(PostOutcome::Refused(PostRefusal::TooLarge));
        };
        let Some(after) = before.checked_add(change).filter(|after| !grows_too_large(before, *after)) else {
            return Ok(PostOutcome::Refused(PostRefusal::TooLarge));
        };
        let id = self.write_entry(entry, change, after, None)?;
        Ok(PostOutcome::Posted { entry: id, balance: after })
    }

    /// Gives a message's cost back.
    pub(crate) fn refund(
        &mut self,
        account: AccountId,
        message: MessageId,
        cost: Money,
    ) -> Result<(), StoreFault> {
        let entry = LedgerEntry {
            account,
            kind: LedgerKind::Refund,
            amount: cost,
            note: String::new(),
            reference: None,
            now: self.now,
        };
        let change = Balance { balance: cost, credit_used: Money::ZERO };
        let after = self.books.balances.of(account).checked_add(change);
        let after = after.ok_or_else(|| StoreFault::damaged("a balance overflowed"))?;
        self.write_entry(&entry, change, after, Some(message)).map(|_| ())
    }

    fn write_entry(
        &mut self,
        entry: &LedgerEntry,
        change: Balance,
        after: Balance,
        message: Option<MessageId>,
    ) -> Result<i64, StoreFault> {
        let LedgerEntry { account, kind, amount: _, note, reference, now } = entry;
        self.at(*now);
        self.connection
            .prepare_cached(
                "INSERT INTO ledger (account, at, kind, balance, credit_used, message, reference, note)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                account.get(),
                now.as_millis(),
                kind.to_stored(),
                change.balance.as_micros(),
                change.credit_used.as_micros(),
                message.map(MessageId::as_i64),
                reference,
                note
            ])?;
        self.books.balances.set(*account, after);
        Ok(self.connection.last_insert_rowid())
    }

    fn posted_before(&self, entry: &LedgerEntry) -> Result<Option<LedgerRow>, StoreFault> {
        let Some(reference) = &entry.reference else { return Ok(None) };
        by_reference(self.connection, entry.account, reference)
    }
}

fn by_reference(
    connection: &Connection,
    account: AccountId,
    reference: &str,
) -> Result<Option<LedgerRow>, StoreFault> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM ledger WHERE account = ?1 AND reference = ?2"))?
        .query_row(params![account.get(), reference], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

fn check(entry: &LedgerEntry) -> Result<(), PostRefusal> {
    match entry.kind {
        LedgerKind::Refund | LedgerKind::RolledUpCosts | LedgerKind::RolledUpRefunds => {
            Err(PostRefusal::RefundsAreAutomatic)
        }
        LedgerKind::Adjustment if entry.amount == Money::ZERO => Err(PostRefusal::Zero),
        LedgerKind::TopUp | LedgerKind::Invoice | LedgerKind::Payment if entry.amount <= Money::ZERO => {
            Err(PostRefusal::NotPositive)
        }
        LedgerKind::TopUp | LedgerKind::Adjustment | LedgerKind::Invoice | LedgerKind::Payment => Ok(()),
    }
}

/// What an entry changes an account's figures by.
fn change(entry: &LedgerEntry, before: Balance) -> Option<Balance> {
    let amount = entry.amount;
    Some(match entry.kind {
        LedgerKind::TopUp
        | LedgerKind::Adjustment
        | LedgerKind::Refund
        | LedgerKind::RolledUpCosts
        | LedgerKind::RolledUpRefunds => Balance { balance: amount, credit_used: Money::ZERO },
        LedgerKind::Invoice => Balance { balance: amount, credit_used: amount },
        LedgerKind::Payment => {
            let owed = amount.min(before.credit_used);
            Balance { balance: amount.checked_sub(owed)?, credit_used: owed.checked_neg()? }
        }
    })
}

/// What leads back towards zero is never too large.
fn grows_too_large(before: Balance, after: Balance) -> bool {
    let size = |amount: Money| amount.as_micros().unsigned_abs();
    let too_large = |before, after| size(after) > size(AMOUNT_MAX).max(size(before));
    too_large(before.balance, after.balance) || too_large(before.credit_used, after.credit_used)
}

/// What was asked for when this row was written.
fn amount(row: &LedgerRow) -> Option<Money> {
    match row.kind {
        LedgerKind::Payment => row.balance.checked_sub(row.credit_used),
        LedgerKind::TopUp
        | LedgerKind::Refund
        | LedgerKind::Adjustment
        | LedgerKind::Invoice
        | LedgerKind::RolledUpCosts
        | LedgerKind::RolledUpRefunds => Some(row.balance),
    }
}

fn page(
    connection: &Connection,
    account: AccountId,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<LedgerRow>, StoreFault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM ledger WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"
    ))?;
    let bounds = params![account.get(), before.unwrap_or(i64::MAX), limit.min(PAGE_ROWS_MAX)];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

pub(crate) fn read(row: &Row<'_>) -> Result<LedgerRow, StoreFault> {
    let kind = row.get(2)?;
    let message: Option<i64> = row.get(5)?;
    Ok(LedgerRow {
        id: row.get(0)?,
        at: Timestamp::from_millis(row.get(1)?),
        kind: LedgerKind::from_stored(kind)
            .ok_or_else(|| StoreFault::damaged(format!("{kind} is no kind of ledger entry")))?,
        balance: Money::from_micros(row.get(3)?),
        credit_used: Money::from_micros(row.get(4)?),
        message: message.and_then(MessageId::from_i64),
        reference: row.get(6)?,
        note: row.get(7)?,
    })
}
