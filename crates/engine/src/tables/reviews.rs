//! The table of messages held for review, and the decisions about them.

/// Reads and writes messages held for review, and the decisions about them.
pub trait ReviewRows {}
