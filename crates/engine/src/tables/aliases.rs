//! The table of short message ids (aliases) of each account.

use crate::tables::TableError;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;

/// Reads and writes the aliases of each account, and the one it was given last.
pub trait AliasRows {
    /// Returns the alias that each account was given last.
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError>;

    /// Writes the alias that an account was given last.
    fn put_last_alias(&self, account: AccountId, alias: Alias) -> Result<(), TableError>;

    /// Returns the message that an alias of this account names.
    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError>;

    /// Writes which message an alias names, in place of any other.
    fn put_alias(&self, account: AccountId, alias: Alias, message: MessageId) -> Result<(), TableError>;
}
