//! Recipients who opted out.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::OptOut;
use hermod_engine::tables::{OptOutChange, OptOutRows, TableError};
use std::collections::BTreeSet;

/// The row of a recipient.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    at: Timestamp,
    how: String,
}

impl OptOutRows for MemoryTables {
    fn change_opt_out(&self, change: &OptOutChange) -> Result<(), TableError> {
        let table = &mut self.write().opt_out;
        match change {
            OptOutChange::Add(OptOut { account, number, how, now }) => {
                let row = Row { at: *now, how: how.clone() };
                table.add((account.get(), number.number()), row);
            }
            OptOutChange::Delete { account, number } => {
                table.delete(&(account.get(), number.number()));
            }
        }
        Ok(())
    }

    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError> {
        let rows = self.read();
        let accounts: BTreeSet<u32> = rows.opt_out.keys().map(|(account, _)| *account).collect();
        Ok(accounts.into_iter().map(AccountId::new).collect())
    }

    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().opt_out.get(&(account.get(), number.number())).map(|row| row.at))
    }
}
