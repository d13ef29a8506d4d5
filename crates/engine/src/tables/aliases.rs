//! The tables of short message ids (aliases) of each account, and of the one it was given last.

use crate::tables::TableError;
use crate::tables::columns::one_column;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use serde::{Deserialize, Serialize};

/// The message that an alias names.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AliasRow {
    pub account: AccountId,
    pub alias: Alias,
    pub message: MessageId,
}

/// The alias that an account was given last. The search for the next free one starts there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LastAlias {
    pub account: AccountId,
    pub last: Alias,
}

one_column! {
    Alias: Number, |alias| alias.get().into(), |number| number.try_into().ok().and_then(Alias::new);
}

stored_table! { alias: AliasRow { account, alias, message }, key (account: AccountId, alias: Alias) }
stored_table! { alias_counter: LastAlias { account, last }, key (account: AccountId) }

/// Reads the aliases of each account, and the one it was given last.
pub trait AliasRows {
    /// Returns the alias that each account was given last.
    fn last_aliases(&self) -> Result<Vec<(AccountId, Alias)>, TableError>;

    /// Returns the message that an alias of this account names.
    fn aliased_message(&self, account: AccountId, alias: Alias) -> Result<Option<MessageId>, TableError>;
}
