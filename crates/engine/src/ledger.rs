//! Entries of the ledger: every change of a balance that is not a message's cost. Each row has two figures, and an
//! account's balance and credit in use are the sums of them.

use crate::batch::Batch;
use crate::ops::{Balance, LedgerEntry, LedgerKind, LedgerRow, PostOutcome, PostRefusal};
use crate::tables::{NewPosting, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::{AMOUNT_MAX, Money};

impl Batch<'_> {
    /// Writes an entry that somebody asked for, unless it is refused or was written before.
    pub fn post(&mut self, entry: &LedgerEntry) -> Result<PostOutcome, TableError> {
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
    pub fn refund(&mut self, account: AccountId, message: MessageId, cost: Money) -> Result<(), TableError> {
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
        let after = after.ok_or_else(|| TableError::unreadable("a balance overflowed"))?;
        self.write_entry(&entry, change, after, Some(message)).map(|_| ())
    }

    fn write_entry(
        &mut self,
        entry: &LedgerEntry,
        change: Balance,
        after: Balance,
        message: Option<MessageId>,
    ) -> Result<i64, TableError> {
        let LedgerEntry { account, kind, amount: _, note, reference, now } = entry;
        self.at(*now);
        let id = self.tables.add_posting(&NewPosting {
            account: *account,
            at: *now,
            kind: *kind,
            change,
            message,
            reference: reference.as_deref(),
            note,
        })?;
        self.books.balances.set(*account, after);
        Ok(id)
    }

    fn posted_before(&self, entry: &LedgerEntry) -> Result<Option<LedgerRow>, TableError> {
        let Some(reference) = &entry.reference else { return Ok(None) };
        self.tables.posting_by_reference(entry.account, reference)
    }
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
