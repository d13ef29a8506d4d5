//! The table of MO messages of accounts.

/// Reads and writes MO messages of accounts.
pub trait InboundRows {}
