//! The table of recipients who opted out.

/// Reads and writes recipients who opted out.
pub trait OptOutRows {}
