//! The table of parts that were set aside because their rows, or the rows of their messages, are invalid.

use crate::tables::{MessageRange, StoredMessageKey, TableError, UnreadablePart};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SetAsideChange {
    /// The rows of a message's parts move here from the table of parts, with the reason.
    Parts { key: StoredMessageKey, reason: String, at: Timestamp },
    /// The row of a message is invalid, unless that is written already. Its parts stay in the queues.
    Message { key: StoredMessageKey, reason: String, at: Timestamp },
    /// What was set aside of these messages is deleted.
    Delete(MessageRange),
}

/// Finds parts whose rows are invalid, and sets them aside.
pub trait SetAsideRows {
    /// Returns the states of a message's parts; None for a state that is not known.
    fn stored_states(&self, key: StoredMessageKey) -> Result<Vec<Option<PartState>>, TableError>;

    /// Returns whether parts of this message are set aside.
    fn has_parts_set_aside(&self, message: MessageId) -> Result<bool, TableError>;

    /// Applies a change.
    fn change_set_aside(&self, change: &SetAsideChange) -> Result<(), TableError>;

    /// Returns why a row is invalid, if the error says so. Returns any other error.
    fn why_unreadable(&self, error: TableError) -> Result<String, TableError>;

    /// Returns parts whose own rows are invalid, at most `limit`. Reads the row of every part.
    fn unreadable_parts(&self, limit: u32) -> Result<Vec<UnreadablePart>, TableError>;
}
