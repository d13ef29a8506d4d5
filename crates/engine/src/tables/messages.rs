//! The table of MT messages: one row each, from acceptance to the end of its retention.

/// Reads and writes MT messages: one row each, from acceptance to the end of its retention.
pub trait MessageRows {}
