//! Aliases of each account.

use super::MemoryTables;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use hermod_engine::tables::{AliasRows, TableError};

impl AliasRows for MemoryTables {
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError> {
        Ok(self.read().alias_counter.values().map(|row| (row.account, row.last)).collect())
    }

    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError> {
        Ok(self.read().alias.get(&(account, alias)).map(|row| row.message))
    }
}
