//! Posts ledger entries: every change of a balance except the cost of a message. Each row has two figures; an account's
//! balance and credit in use are their sums.

use crate::batch::Batch;
use crate::entry_uses;
use crate::maps::HashMap;
use crate::ops::{
    Balance, LedgerEntry, LedgerKind, LedgerRow, NumberedEntry, PostOutcome, PostRefusal, Usage,
};
use crate::state::audit_log::UnloggedPosting;
use crate::tables::{MessageKey, Posting, RowChange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::{AMOUNT_MAX, Money};

/// The cost of a message, and the balance after its refund.
#[derive(Clone, Copy, Debug)]
pub struct PlannedRefund {
    pub cost: Money,
    after: Balance,
}

/// Posts an entry. Returns a refusal, or the earlier entry if its reference was posted before; then nothing is
/// written.
pub fn post(batch: &mut Batch<'_>, entry: &LedgerEntry) -> Result<PostOutcome, TableError> {
    let before = batch.state.balances.of(entry.account);
    let posted = posted_before(batch, entry)?;
    let judged = judge(entry, before, posted.as_ref().map(Posted::from));
    if let Ok(Judged::New { .. }) = judged {
        batch.advance_to(entry.now);
        entry_uses::note_or_refuse(batch, &[NumberedEntry::Account(entry.account)], Usage::LedgerEntry)?;
    }
    Ok(match judged {
        Err(refusal) => PostOutcome::Refused(refusal),
        Ok(Judged::Repeated) => {
            let entry = posted.map(|posted| posted.id).expect("a repeated entry was posted before");
            PostOutcome::Repeated { entry, balance: before }
        }
        Ok(Judged::New { change, after }) => {
            let id = write(batch, entry, change, after, None);
            let LedgerEntry { account, now: at, .. } = *entry;
            batch.unlogged_postings.push(UnloggedPosting { id, account, at, change });
            PostOutcome::Posted { entry: id, balance: after }
        }
    })
}

/// Returns the first refusal if these entries were posted in this order; none if all would be accepted. Writes
/// nothing.
pub fn find_refusal(batch: &Batch<'_>, entries: &[LedgerEntry]) -> Result<Option<PostRefusal>, TableError> {
    let mut balances: HashMap<AccountId, Balance> = HashMap::default();
    let mut references: HashMap<(AccountId, &str), Posted> = HashMap::default();
    for entry in entries {
        let account = entry.account;
        let before = balances.get(&account).copied().unwrap_or_else(|| batch.state.balances.of(account));
        let reference = entry.reference.as_deref().map(|reference| (account, reference));
        let posted = match reference.and_then(|reference| references.get(&reference)) {
            Some(posted) => Some(*posted),
            None => posted_before(batch, entry)?.as_ref().map(Posted::from),
        };
        match judge(entry, before, posted) {
            Err(refusal) => return Ok(Some(refusal)),
            Ok(Judged::Repeated) => {}
            Ok(Judged::New { change: _, after }) => {
                balances.insert(account, after);
                let posted = Posted { kind: entry.kind, amount: Some(entry.amount) };
                references.extend(reference.map(|reference| (reference, posted)));
            }
        }
    }
    Ok(None)
}

/// Returns the refund of a message. Fails if the balance would overflow.
pub fn plan_refund(batch: &Batch<'_>, key: MessageKey) -> Result<PlannedRefund, TableError> {
    let cost = batch.tables.message_cost(key.message)?;
    let change = Balance { balance: cost, credit_used: Money::ZERO };
    let after = batch.state.balances.of(key.account).checked_add(change);
    let after = after.ok_or_else(|| TableError::unreadable("its refund is too large for the balance"))?;
    Ok(PlannedRefund { cost, after })
}

/// Posts the refund of a message.
pub fn refund(
    batch: &mut Batch<'_>,
    account: AccountId,
    message: MessageId,
    PlannedRefund { cost, after }: PlannedRefund,
) {
    let entry = LedgerEntry {
        account,
        kind: LedgerKind::Refund,
        amount: cost,
        note: String::new(),
        reference: None,
        now: batch.now,
    };
    let change = Balance { balance: cost, credit_used: Money::ZERO };
    write(batch, &entry, change, after, Some(message));
}

/// Writes an entry and the balance after it. Returns the id of the entry.
fn write(
    batch: &mut Batch<'_>,
    entry: &LedgerEntry,
    change: Balance,
    after: Balance,
    message: Option<MessageId>,
) -> i64 {
    let LedgerEntry { account, kind, amount: _, note, reference, now } = entry;
    batch.advance_to(*now);
    let id = batch.state.last_ids.next_posting();
    batch.tables.write(RowChange::Add(Posting {
        id,
        account: *account,
        at: *now,
        kind: *kind,
        change,
        message,
        reference: reference.clone(),
        note: note.clone(),
    }));
    batch.state.balances.set(*account, after);
    id
}

/// Returns the account's entry that has the same reference.
fn posted_before(batch: &Batch<'_>, entry: &LedgerEntry) -> Result<Option<LedgerRow>, TableError> {
    let Some(reference) = &entry.reference else { return Ok(None) };
    batch.tables.read()?.posting_by_reference(entry.account, reference)
}

/// An earlier entry with the same reference, as far as it is compared.
#[derive(Clone, Copy)]
struct Posted {
    kind: LedgerKind,
    amount: Option<Money>,
}

impl From<&LedgerRow> for Posted {
    fn from(row: &LedgerRow) -> Posted {
        Posted { kind: row.kind, amount: amount(row) }
    }
}

/// The result of checking an entry.
enum Judged {
    /// It was posted before.
    Repeated,
    New {
        change: Balance,
        after: Balance,
    },
}

/// Checks an entry. `posted`: the earlier entry with its reference.
fn judge(entry: &LedgerEntry, before: Balance, posted: Option<Posted>) -> Result<Judged, PostRefusal> {
    check(entry)?;
    if let Some(Posted { kind, amount }) = posted {
        let same = kind == entry.kind && amount == Some(entry.amount);
        return if same { Ok(Judged::Repeated) } else { Err(PostRefusal::ReferenceTaken) };
    }
    let change = change(entry, before).ok_or(PostRefusal::TooLarge)?;
    let after = before.checked_add(change).filter(|after| !grows_too_large(before, *after));
    Ok(Judged::New { change, after: after.ok_or(PostRefusal::TooLarge)? })
}

/// Checks the kind and the amount of an entry.
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

/// Returns what an entry adds to the balance and to the credit in use; none if that overflows.
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

/// Whether a figure exceeds [`AMOUNT_MAX`] and moves away from zero.
fn grows_too_large(before: Balance, after: Balance) -> bool {
    let size = |amount: Money| amount.as_micros().unsigned_abs();
    let too_large = |before, after| size(after) > size(AMOUNT_MAX).max(size(before));
    too_large(before.balance, after.balance) || too_large(before.credit_used, after.credit_used)
}

/// Returns the amount that was requested when this row was written.
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
