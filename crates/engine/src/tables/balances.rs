//! The table of the balance of each account.

use crate::ops::Balance;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;

/// Reads and writes the balance of each account.
pub trait BalanceRows {
    /// Returns every account that has a row.
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError>;

    /// Writes an account's row, new or not.
    fn put_balance(&self, account: AccountId, balance: Balance) -> Result<(), TableError>;
}
