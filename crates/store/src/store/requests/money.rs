//! The store's operations on money: what the writer is asked to do, and what is read beside it.

use crate::error::StoreError;
use crate::store::Store;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use hermod_engine::ops::{Balance, DayTotals, LedgerEntry, LedgerRow, PAGE_ROWS_MAX, PostOutcome, Statement};
use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;

impl Store {
    /// What an account has and owes.
    pub async fn balance(&self, account: AccountId) -> Result<Balance, StoreError> {
        self.inner.backend.balance(account).await
    }

    /// Changes a balance by a ledger entry. With a reference it can be repeated until its answer arrives.
    pub async fn post(&self, entry: LedgerEntry) -> Result<PostOutcome, StoreError> {
        self.request(entry).await
    }

    /// An account's entries, newest first, from before an entry or from the end.
    pub async fn ledger(
        &self,
        account: AccountId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LedgerRow>, StoreError> {
        let limit = limit.min(PAGE_ROWS_MAX);
        self.inner.backend.ledger(account, before, limit).await
    }

    /// The entry that was posted under a reference.
    pub async fn posted(
        &self,
        account: AccountId,
        reference: String,
    ) -> Result<Option<LedgerRow>, StoreError> {
        self.inner.backend.posted(account, reference).await
    }

    /// The days from the first to the last, both included, that had messages; a year of them at most.
    pub async fn day_totals(
        &self,
        account: AccountId,
        from: Day,
        to: Day,
    ) -> Result<Vec<DayTotals>, StoreError> {
        self.inner.backend.day_totals(account, (from, to)).await
    }

    /// An account's movements from the first day to the last, both included.
    pub async fn statement(&self, account: AccountId, from: Day, to: Day) -> Result<Statement, StoreError> {
        let last = to.min(Day::new(from.get().saturating_add(DAYS_PER_READ_MAX - 1)));
        let statement = self.inner.backend.statement(account, (from, last)).await?;
        Ok(Statement { cut_off: statement.cut_off || last < to, ..statement })
    }
}
