//! The accounts that have opt-outs, so that messages of other accounts need no read.

use crate::maps::HashSet;
use crate::tables::{TableError, Tables};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;

/// Accounts that may have opt-outs. An account too many costs a read and no error, so nothing is undone when a batch
/// fails or the last recipient opts in again.
pub struct OptOuts(HashSet<AccountId>);

impl OptOuts {
    pub fn load(tables: &Tables<'_>) -> Result<OptOuts, TableError> {
        Ok(OptOuts(tables.read()?.accounts_with_opt_outs()?.into_iter().collect()))
    }

    /// Whether a recipient has opted out of an account's messages.
    pub fn has(&self, tables: &Tables<'_>, account: AccountId, number: Msisdn) -> Result<bool, TableError> {
        if !self.0.contains(&account) {
            return Ok(false);
        }
        Ok(tables.read()?.opted_out_at(account, number)?.is_some())
    }

    pub fn add(&mut self, account: AccountId) {
        self.0.insert(account);
    }
}
