//! The table of what happened to a message beyond its ordinary course, for the operator. No decision reads it.

use crate::tables::TableError;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;

/// A line of a message's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineLine {
    pub id: i64,
    pub message: MessageId,
    pub at: Timestamp,
    pub part: PartNo,
    pub what: &'static str,
    pub detail: String,
}

/// Writes what happened to a message beyond its ordinary course.
pub trait TimelineRows {
    /// Returns the highest id of a line; 0 if there is none.
    fn last_timeline_id(&self) -> Result<i64, TableError>;

    /// Adds a line.
    fn add_timeline_line(&self, line: &TimelineLine) -> Result<(), TableError>;
}
