//! SQL for message aliases: the short names that messages get on SMPP 3.3 binds.

use crate::sql::SqlTables;
use crate::sql::{OptionalExtension, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use hermod_engine::tables::{AliasChange, AliasRows, TableError};

impl SqlTables<'_> {
    fn put_last_alias(&self, account: AccountId, alias: Alias) -> Result<(), TableError> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO alias_counter (account, last) VALUES (?1, ?2)")?
            .execute(params![account.get(), alias.get()])?;
        Ok(())
    }

    fn put_alias(&self, account: AccountId, alias: Alias, message: MessageId) -> Result<(), TableError> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO alias (account, alias, message) VALUES (?1, ?2, ?3)")?
            .execute(params![account.get(), alias.get(), message.as_i64()])?;
        Ok(())
    }
}

impl AliasRows for SqlTables<'_> {
    fn change_alias(&self, change: &AliasChange) -> Result<(), TableError> {
        match change {
            AliasChange::Last { account, alias } => self.put_last_alias(*account, *alias),
            AliasChange::Name { account, alias, message } => self.put_alias(*account, *alias, *message),
        }
    }

    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError> {
        let mut statement = self.connection.prepare("SELECT account, last FROM alias_counter")?;
        let mut rows = statement.query([])?;
        let mut last = Vec::new();
        while let Some(row) = rows.next()? {
            last.push((AccountId::new(row.get(0)?), stored_alias(row.get(1)?)?));
        }
        Ok(last)
    }

    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError> {
        let message: Option<i64> = self
            .connection
            .prepare_cached("SELECT message FROM alias WHERE account = ?1 AND alias = ?2")?
            .query_row(params![account.get(), alias.get()], |row| row.get(0))
            .optional()?;
        message
            .map(|stored| {
                MessageId::from_i64(stored).ok_or_else(|| TableError::unreadable("an alias's message"))
            })
            .transpose()
    }
}

fn stored_alias(number: u32) -> Result<Alias, TableError> {
    Alias::new(number).ok_or_else(|| TableError::unreadable(format!("{number} is not an alias")))
}
