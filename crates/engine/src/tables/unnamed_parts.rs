//! The table of parts that a carrier accepted without an id.

/// Reads and writes parts that a carrier accepted without an id.
pub trait UnnamedPartRows {}
