//! The table of MO messages to numbers that belong to no account.

/// Reads and writes MO messages to numbers that belong to no account.
pub trait UnassignedInboundRows {}
