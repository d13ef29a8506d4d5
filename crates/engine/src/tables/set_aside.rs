//! The table of parts that were set aside because their rows, or the rows of their messages, make no sense.

use crate::tables::{MessageRange, StoredPlace, TableError, UnreadablePart};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;

/// A change of the table.
#[derive(Clone, Debug)]
pub enum SetAsideChange {
    /// The rows of a message's parts move here from the table of parts, with the reason.
    Parts { place: StoredPlace, reason: String, at: Timestamp },
    /// The row of a message makes no sense, unless that is written already. Its parts stay where they are.
    Message { place: StoredPlace, reason: String, at: Timestamp },
    /// What was set aside of these messages is deleted.
    Delete(MessageRange),
}

/// Finds parts that make no sense, and sets them aside.
pub trait SetAsideRows {
    /// Returns the states of a message's parts; None for a state that is not known.
    fn stored_states(&self, place: StoredPlace) -> Result<Vec<Option<PartState>>, TableError>;

    /// Applies a change.
    fn change_set_aside(&self, change: &SetAsideChange) -> Result<(), TableError>;

    /// Returns why a row makes no sense, if that is what this error says. Returns the error otherwise.
    fn why_unreadable(&self, error: TableError) -> Result<String, TableError>;

    /// Returns parts whose own rows make no sense, so many at most. Looks at the row of every part.
    fn unreadable_parts(&self, limit: u32) -> Result<Vec<UnreadablePart>, TableError>;
}
