//! The table of short message ids for binds that cannot take long ones.

/// Reads and writes short message ids for binds that cannot take long ones.
pub trait AliasRows {}
