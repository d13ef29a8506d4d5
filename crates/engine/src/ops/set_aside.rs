//! What was set aside because its row makes no sense.

use hermod_domain::time::Timestamp;

/// A row that makes no sense: it is damaged, or of another release. Its numbers are those of the row, as they stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub id: i64,
    pub at: Timestamp,
    pub reason: String,
    pub carrier: i64,
    pub account: i64,
    pub message: i64,
    /// The row of a part that is not in the queues any more. None: the message's own row makes no sense, and its parts are
    /// where they were.
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

/// How much is set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAsideCount {
    pub rows: u64,
    /// When the last of them was set aside.
    pub last_at: Option<Timestamp>,
}
