//! The table of postings to accounts.

/// Reads and writes postings to accounts.
pub trait LedgerRows {}
