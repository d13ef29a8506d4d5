//! The table of what happened to a message beyond its ordinary course.

use crate::tables::TableError;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;

/// What a timeline says when a message is reported UNKNOWN.
pub const UNKNOWN_LINE: &str = "unknown";

/// Reads and writes what happened to a message beyond its ordinary course.
pub trait TimelineRows {
    /// Adds a line to the timeline of a message.
    fn add_timeline_line(
        &self,
        message: MessageId,
        at: Timestamp,
        part: PartNo,
        what: &str,
        detail: &str,
    ) -> Result<(), TableError>;

    /// Returns whether a message's timeline has such a line.
    fn has_timeline_line(&self, message: MessageId, what: &str) -> Result<bool, TableError>;

    /// Returns the details of a message's lines of this kind, in any order.
    fn timeline_details(&self, message: MessageId, what: &str) -> Result<Vec<String>, TableError>;

    /// Returns how many lines of these kinds a message's timeline has.
    fn count_timeline_lines(&self, message: MessageId, kinds: [&str; 2]) -> Result<u32, TableError>;
}
