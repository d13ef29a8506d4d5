//! The balance of each account.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceChange, BalanceRows, TableError};

impl BalanceRows for MemoryTables {
    fn change_balance(&self, change: &BalanceChange) -> Result<(), TableError> {
        match change {
            BalanceChange::Put { account, balance } => self.write().balance.put(account.get(), *balance),
        }
        Ok(())
    }

    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError> {
        Ok(self
            .read()
            .balance
            .iter()
            .map(|(account, balance)| (AccountId::new(*account), *balance))
            .collect())
    }
}
