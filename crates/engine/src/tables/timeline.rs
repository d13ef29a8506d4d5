//! The table of what happened to a message beyond its ordinary course.

use crate::tables::TableError;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;

/// What a timeline says when a message is reported UNKNOWN.
pub const UNKNOWN_LINE: &str = "unknown";

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

/// Reads and writes what happened to a message beyond its ordinary course.
pub trait TimelineRows {
    /// Returns the highest id of a line; 0 if there is none.
    fn last_timeline_id(&self) -> Result<i64, TableError>;

    /// Adds a line.
    fn add_timeline_line(&self, line: &TimelineLine) -> Result<(), TableError>;

    /// Returns whether a message's timeline has such a line.
    fn has_timeline_line(&self, message: MessageId, what: &str) -> Result<bool, TableError>;

    /// Returns the details of a message's lines of this kind, in any order.
    fn timeline_details(&self, message: MessageId, what: &str) -> Result<Vec<String>, TableError>;

    /// Returns how many lines of these kinds a message's timeline has.
    fn count_timeline_lines(&self, message: MessageId, kinds: [&str; 2]) -> Result<u32, TableError>;
}
