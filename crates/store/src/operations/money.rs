//! Operations on balances, the ledger and statements.

use crate::error::StoreError;
use crate::operations::MoneyStore;
use crate::sql::{balances, day_totals, engine_reads, ledger};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use hermod_engine::ops::{Balance, DayTotals, LedgerEntry, LedgerRow, PAGE_ROWS_MAX, PostOutcome, Statement};
use hermod_engine::state::day_totals::DAYS_PER_READ_MAX;

impl MoneyStore<'_> {
    /// Returns an account's balance and credit in use.
    pub async fn balance(self, account: AccountId) -> Result<Balance, StoreError> {
        self.0.read(move |database| balances::read(database, account)).await
    }

    /// Returns the balance of every account that ever had one, with one query.
    pub async fn balances(self) -> Result<Vec<(AccountId, Balance)>, StoreError> {
        self.0.read(balances::read_all).await
    }

    /// Changes a balance by a ledger entry. An entry with a reference is posted once, so the call can be repeated until it
    /// succeeds.
    pub async fn post(self, entry: LedgerEntry) -> Result<PostOutcome, StoreError> {
        self.0.request(entry).await
    }

    /// Returns an account's ledger entries before entry `before`, or all, newest first.
    pub async fn ledger(
        self,
        account: AccountId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LedgerRow>, StoreError> {
        let limit = limit.min(PAGE_ROWS_MAX);
        self.0.read(move |database| ledger::page(database, account, before, limit)).await
    }

    /// Returns the ledger entry with a reference.
    pub async fn posted(
        self,
        account: AccountId,
        reference: String,
    ) -> Result<Option<LedgerRow>, StoreError> {
        self.0.read(move |database| ledger::by_reference(database, account, &reference)).await
    }

    /// Returns the totals of the days from `from` to `to`, both included, that had messages; at most
    /// [`DAYS_PER_READ_MAX`] days.
    pub async fn day_totals(
        self,
        account: AccountId,
        from: Day,
        to: Day,
    ) -> Result<Vec<DayTotals>, StoreError> {
        self.0.read(move |database| day_totals::between(database, account, (from, to))).await
    }

    /// Returns an account's statement from `from` to `to`, both included. It is cut off after [`DAYS_PER_READ_MAX`] days or
    /// [`crate::STATEMENT_ENTRIES_MAX`] entries.
    pub async fn statement(self, account: AccountId, from: Day, to: Day) -> Result<Statement, StoreError> {
        let last = to.min(Day::new(from.get().saturating_add(DAYS_PER_READ_MAX - 1)));
        let statement = self
            .0
            .read(move |database| engine_reads::read_statement(database, account, (from, last)))
            .await?;
        Ok(Statement { cut_off: statement.cut_off || last < to, ..statement })
    }
}
