//! The table of what each account sent per day.

/// Reads and writes what each account sent per day.
pub trait DayTotalRows {}
