//! The table of short message ids (aliases) of each account.

use crate::tables::TableError;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AliasChange {
    /// The alias that an account was given last.
    Last { account: AccountId, alias: Alias },
    /// The message that an alias names, in place of any other.
    Name { account: AccountId, alias: Alias, message: MessageId },
}

/// Reads and writes the aliases of each account, and the one it was given last.
pub trait AliasRows {
    /// Applies a change.
    fn change_alias(&self, change: &AliasChange) -> Result<(), TableError>;

    /// Returns the alias that each account was given last.
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError>;

    /// Returns the message that an alias of this account names.
    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError>;
}
