//! The table of parts of messages that have not ended.

/// Reads and writes parts of messages that have not ended.
pub trait PartRows {}
