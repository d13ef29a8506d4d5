//! SQL for message aliases: the short names that messages get on SMPP 3.3 binds.

use crate::sql::{SqlTables, described, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use hermod_engine::tables::{AliasRow, AliasRows, LastAlias, TableError};

impl AliasRows for SqlTables<'_> {
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError> {
        let rows: Vec<LastAlias> = described::rows(self.connection, "", [])?;
        Ok(rows.into_iter().map(|row| (row.account, row.last)).collect())
    }

    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError> {
        let key = params![account.get(), alias.get()];
        let row: Option<AliasRow> =
            described::row(self.connection, "WHERE account = ?1 AND alias = ?2", key)?;
        Ok(row.map(|row| row.message))
    }
}
