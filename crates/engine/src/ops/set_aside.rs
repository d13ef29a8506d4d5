//! Rows that were set aside because they cannot be read.

use hermod_domain::time::Timestamp;

/// A row that is invalid: it is damaged, or was written by another release. Its numbers are those of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub id: i64,
    pub at: Timestamp,
    pub reason: String,
    pub carrier: i64,
    pub account: i64,
    pub message: i64,
    /// The row of a part that left the queues. None: the message's own row is invalid, and its parts are still in the
    /// queues.
    pub part: Option<StoredPart>,
}

/// The numbers in a part's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPart {
    pub no: i64,
    pub state: i64,
    pub doubts: i64,
    pub resend: i64,
    pub attempts: i64,
    pub due_at: i64,
    pub expires_at: i64,
}

/// The number of rows that are set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAsideCount {
    pub rows: u64,
    /// When the latest of them was set aside.
    pub last_at: Option<Timestamp>,
}
