//! The table of which account last wrote to whom from a shared number.

use crate::tables::TableError;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The key of a row: a handset, and the number that it was written to from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A change of the table.
#[derive(Clone, Serialize, Deserialize)]
pub enum ConversationChange {
    /// The last message to a handset from a number, in place of the one before.
    Put {
        key: ConversationKey,
        last: Conversation,
    },
    Delete(ConversationKey),
}

/// Reads and writes which account last wrote to whom from a shared number.
pub trait ConversationRows {
    /// Applies a change.
    fn change_conversation(&self, change: &ConversationChange) -> Result<(), TableError>;

    /// Returns the last message to a handset from a number.
    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError>;
}
