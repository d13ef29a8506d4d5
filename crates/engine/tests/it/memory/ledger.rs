//! Postings to accounts.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::{LedgerKind, LedgerRow};
use hermod_engine::tables::{LedgerRows, MessageRange, Posting, Refund, RolledUpKey, TableError};

impl LedgerRows for MemoryTables {
    fn last_posting(&self) -> Result<i64, TableError> {
        Ok(self.read().ledger.last_key_value().map_or(0, |((id,), _)| *id))
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
        Ok(found.map(|row| LedgerRow::from((**row).clone())))
    }

    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError> {
        let rows = self.read();
        let refunds = rows.ledger.values().filter_map(|row| {
            let message = row.message.filter(|id| (range.first..=range.last).contains(id))?;
            Some(Refund { message, at: row.at, amount: row.change.balance })
        });
        let mut refunds: Vec<Refund> = refunds.collect();
        refunds.sort_by_key(|refund| refund.message);
        let is_repeated = refunds.windows(2).any(|pair| pair[0].message == pair[1].message);
        assert!(!is_repeated, "a message was refunded twice: {refunds:?}");
        Ok(refunds)
    }

    fn rolled_up(&self, key: RolledUpKey) -> Result<Option<Posting>, TableError> {
        let RolledUpKey { account, day, kind } = key;
        let rows = self.read();
        let mut found = rows
            .ledger
            .values()
            .filter(|row| row.account == account && row.at == day.start() && row.kind == kind)
            .filter(|row| matches!(row.kind, LedgerKind::RolledUpCosts | LedgerKind::RolledUpRefunds));
        let first = found.next().map(|row| (**row).clone());
        assert!(found.next().is_none(), "two postings roll up {key:?}");
        Ok(first)
    }
}
