//! The reports that wait in memory for one connection that a customer is bound to. Pure: times and rows are arguments. The
//! store shares an outbox between threads, wakes its ports and reads the tables for it.
//!
//! Nothing here is remembered over a restart, and nothing has to be: every report stands in the tables until its end is
//! written.

mod counts;
mod deferred;
#[cfg(test)]
mod ends_tests;
mod entry;
mod reading;
mod refill;
mod state;
mod telling;
#[cfg(test)]
mod test_table;
#[cfg(test)]
mod tests;
mod unwritten;

pub use counts::ReportCounts;
pub use entry::PortNo;
pub use refill::Refill;
pub use state::{FinishedIds, NextReports, Outbox};

/// Reports that all outboxes together hold. Beyond it new ones stay in the tables.
pub const REPORTS_IN_ALL_MAX: usize = 200_000;
