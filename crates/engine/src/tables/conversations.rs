//! The table of which account last wrote to whom from a shared number.

use crate::tables::TableError;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The key of a row: a handset, and the number that it was written to from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConversationKey {
    pub handset: Msisdn,
    pub number: String,
}

/// The last message to a handset from a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    pub account: AccountId,
    pub connection: ConnectionId,
    pub message: MessageId,
    pub at: Timestamp,
}

/// A conversation with its key.
#[derive(Clone, Serialize, Deserialize)]
pub struct ConversationRow {
    pub key: ConversationKey,
    pub last: Conversation,
}

stored_fields! { ConversationKey { handset, number } }
stored_fields! { Conversation { account, connection, message, at } }
stored_table! { conversation: ConversationRow { key, last }, key (key: ConversationKey) }

/// Reads which account last wrote to whom from a shared number.
pub trait ConversationRows {
    /// Returns the last message to a handset from a number.
    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError>;
}
