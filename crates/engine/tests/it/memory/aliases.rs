//! Aliases of each account.

use super::MemoryTables;
use super::columns::stored_message;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use hermod_engine::tables::{AliasChange, AliasRows, TableError};

impl AliasRows for MemoryTables {
    fn change_alias(&self, change: &AliasChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            AliasChange::Last { account, alias } => rows.alias_counter.put(account.get(), alias.get()),
            AliasChange::Name { account, alias, message } => {
                rows.alias.put((account.get(), alias.get()), message.as_i64());
            }
        }
        Ok(())
    }

    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError> {
        let rows = self.read();
        let last = rows.alias_counter.iter().map(|(account, last)| {
            let alias =
                Alias::new(*last).ok_or_else(|| TableError::unreadable(format!("{last} is no alias")));
            Ok((AccountId::new(*account), alias?))
        });
        last.collect()
    }

    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError> {
        let rows = self.read();
        rows.alias.get(&(account.get(), alias.get())).map(|message| stored_message(*message)).transpose()
    }
}
