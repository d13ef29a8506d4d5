//! The table of reports that were given up.

/// Reads and writes reports that were given up.
pub trait GivenUpReportRows {}
