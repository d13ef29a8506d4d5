//! Recipients who opted out.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{OptOutRows, TableError};
use std::collections::BTreeSet;

impl OptOutRows for MemoryTables {
    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError> {
        let rows = self.read();
        let accounts: BTreeSet<AccountId> = rows.opt_out.keys().map(|(account, _)| *account).collect();
        Ok(accounts.into_iter().collect())
    }

    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().opt_out.get(&(account, number)).map(|row| row.now))
    }
}
