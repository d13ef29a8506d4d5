//! The balance of every account in memory, so that a charge needs no read. Each row is written once per batch.

use crate::ops::Balance;
use crate::state::overlay::Overlay;
use crate::tables::{BalanceRow, RowChange, TableError, Tables};
use hermod_domain::ids::AccountId;

pub struct Balances(Overlay<Balance>);

impl Balances {
    pub fn load(tables: &Tables<'_>) -> Result<Balances, TableError> {
        Ok(Balances(Overlay::over(tables.read()?.all_balances()?.into_iter().collect())))
    }

    pub fn of(&self, account: AccountId) -> Balance {
        self.0.get(account).unwrap_or_default()
    }

    /// Returns all accounts that have a balance, in order.
    pub fn rows(&self) -> Vec<(AccountId, Balance)> {
        self.0.rows()
    }

    pub fn set(&mut self, account: AccountId, balance: Balance) {
        self.0.set(account, balance);
    }

    /// Writes the changed rows. They become final with [`Balances::committed`].
    pub fn write(&self, tables: &Tables<'_>) {
        let changed = self.0.changed();
        changed.for_each(|(account, balance)| tables.write(RowChange::Put(BalanceRow { account, balance })));
    }

    pub fn committed(&mut self) {
        self.0.committed();
    }

    pub fn rolled_back(&mut self) {
        self.0.rolled_back();
    }
}
