//! Postings to accounts.

use super::table::Table;
use super::{MemoryTables, columns};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_engine::ops::{LedgerKind, LedgerRow};
use hermod_engine::tables::{
    LedgerChange, LedgerRows, MessageRange, Posting, Refund, RolledUpKey, TableError,
};

/// The row of a posting.
pub(super) type Row = Posting;

impl LedgerRows for MemoryTables {
    fn last_posting(&self) -> Result<i64, TableError> {
        Ok(self.read().ledger.last_key_value().map_or(0, |(id, _)| *id))
    }

    fn change_ledger(&self, change: &LedgerChange) -> Result<(), TableError> {
        let ledger = &mut self.write().ledger;
        match change {
            LedgerChange::Add(posting) => {
                if let Some(there) = ledger.values().find(|there| conflict(there, posting)) {
                    panic!("{posting:?} is added and may not be there beside {there:?}");
                }
                ledger.add(posting.id, posting.clone());
            }
            LedgerChange::DeleteRefunds(range) => {
                let range = columns::stored_range(*range);
                ledger.delete_where(|_, row| row.message.is_some_and(|id| range.contains(&id.as_i64())));
            }
            LedgerChange::RolledUp { key, amount } => {
                let id = find_rolled_up(ledger, *key).map(|row| row.id);
                let Some(id) = id else { panic!("{key:?} is updated and is not there") };
                ledger.update(&id, |row| row.change.balance = *amount);
            }
        }
        Ok(())
    }

    fn posting_by_reference(
        &self,
        account: AccountId,
        reference: &str,
    ) -> Result<Option<LedgerRow>, TableError> {
        let rows = self.read();
        let mut postings = rows.ledger.values();
        let found =
            postings.find(|row| row.account == account && row.reference.as_deref() == Some(reference));
        Ok(found.map(|row| LedgerRow {
            id: row.id,
            at: row.at,
            kind: row.kind,
            balance: row.change.balance,
            credit_used: row.change.credit_used,
            message: row.message,
            reference: row.reference.clone(),
            note: row.note.clone(),
        }))
    }

    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError> {
        let rows = self.read();
        let refunds = rows.ledger.values().filter_map(|row| {
            let message = row.message.filter(|id| (range.first..=range.last).contains(id))?;
            Some(Refund { message, at: row.at, amount: row.change.balance })
        });
        let mut refunds: Vec<Refund> = refunds.collect();
        refunds.sort_by_key(|refund| refund.message);
        Ok(refunds)
    }

    fn rolled_up_amount(&self, key: RolledUpKey) -> Result<Option<Money>, TableError> {
        Ok(find_rolled_up(&self.read().ledger, key).map(|row| row.change.balance))
    }
}

fn is_rolled_up(kind: LedgerKind) -> bool {
    matches!(kind, LedgerKind::RolledUpCosts | LedgerKind::RolledUpRefunds)
}

fn find_rolled_up(ledger: &Table<i64, Row>, key: RolledUpKey) -> Option<&Row> {
    let RolledUpKey { account, day, kind } = key;
    ledger.values().find(|row| {
        row.account == account && row.at == day.start() && row.kind == kind && is_rolled_up(row.kind)
    })
}

/// Whether a unique index of the table forbids both rows: one refund for each message, one posting for each
/// reference of an account, one of each rolled-up kind for each account and day.
fn conflict(one: &Posting, other: &Posting) -> bool {
    let same_account = one.account == other.account;
    (one.message.is_some() && one.message == other.message)
        || (same_account && one.reference.is_some() && one.reference == other.reference)
        || (same_account && is_rolled_up(one.kind) && one.kind == other.kind && one.at == other.at)
}
