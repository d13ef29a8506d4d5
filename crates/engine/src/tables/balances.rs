//! The table of the balance of each account.

use crate::ops::Balance;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum BalanceChange {
    Put { account: AccountId, balance: Balance },
}

/// Reads and writes the balance of each account.
pub trait BalanceRows {
    /// Applies a change.
    fn change_balance(&self, change: &BalanceChange) -> Result<(), TableError>;

    /// Returns every account that has a row.
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError>;
}
