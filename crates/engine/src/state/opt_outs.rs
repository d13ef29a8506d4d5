//! Which accounts have recipients who opted out, so that a message of any other account costs no read.

use crate::maps::HashSet;
use crate::tables::{TableError, Tables};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;

/// Accounts that may have opt-outs. One too many costs a look-up, so nothing is taken back when a batch fails or the
/// last recipient opts in again.
pub struct OptOuts(HashSet<AccountId>);

impl OptOuts {
    pub fn load(tables: &Tables<'_>) -> Result<OptOuts, TableError> {
        Ok(OptOuts(tables.read()?.accounts_with_opt_outs()?.into_iter().collect()))
    }

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
