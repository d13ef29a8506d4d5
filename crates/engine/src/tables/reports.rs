//! The table of reports that wait for a bind.

/// Reads and writes reports that wait for a bind.
pub trait ReportRows {}
