//! The table of what retention removes.

/// Reads and writes what retention removes.
pub trait PurgingRows {}
