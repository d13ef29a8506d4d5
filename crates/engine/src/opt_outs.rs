//! Recipients who want no more messages from an account. Which accounts have any is known in memory, so that a message
//! of any other account costs no look-up.

use crate::batch::Batch;
use crate::maps::HashSet;
use crate::ops::OptOut;
use crate::tables::{OptOutChange, TableError, Tables};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;

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
}

impl Batch<'_> {
    /// Opts a recipient out. True if that is new; an earlier opt-out stays as it is.
    pub fn opt_out(&mut self, entry: &OptOut) -> Result<bool, TableError> {
        self.at(entry.now);
        let is_new = self.tables.read()?.opted_out_at(entry.account, entry.number)?.is_none();
        if is_new {
            self.tables.write(OptOutChange::Add(entry.clone()));
        }
        self.books.opt_outs.0.insert(entry.account);
        Ok(is_new)
    }

    /// Opts a recipient in again. True if the recipient had opted out.
    pub fn opt_in(&mut self, account: AccountId, number: Msisdn) -> Result<bool, TableError> {
        let was_out = self.tables.read()?.opted_out_at(account, number)?.is_some();
        if was_out {
            self.tables.write(OptOutChange::Delete { account, number });
        }
        Ok(was_out)
    }

    /// The same, unless the recipient opted out after that time.
    pub fn opt_in_since(
        &mut self,
        account: AccountId,
        number: Msisdn,
        at: Timestamp,
    ) -> Result<bool, TableError> {
        let was_out = self.tables.read()?.opted_out_at(account, number)?.is_some_and(|out_at| out_at <= at);
        if was_out {
            self.tables.write(OptOutChange::Delete { account, number });
        }
        Ok(was_out)
    }
}
