//! The balance of each account.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceRows, TableError};

impl BalanceRows for MemoryTables {
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError> {
        Ok(self.read().balance.values().map(|row| (row.account, row.balance)).collect())
    }
}
