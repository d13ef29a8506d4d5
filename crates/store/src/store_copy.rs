//! Copying a store to a server: its steps, its result and its errors. And the fingerprint of a pepper.

use crate::read_results::AuditReport;

/// Tells two peppers apart without revealing anything about them.
pub type PepperFingerprint = [u8; 8];

/// What a copy does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep<'a> {
    /// It copies the rows of this table. The numbers are rows of all tables.
    Rows { table: &'a str, copied: u64, total: u64 },
    /// It compares the rows of both sides and audits them.
    Comparing,
}

/// A complete copy.
#[derive(Debug)]
pub struct CopyReport {
    /// The server and its database, without the password.
    pub place: String,
    pub tables: usize,
    pub rows: u64,
    /// Rows that an earlier run had copied before it was stopped.
    pub copied_before: u64,
    /// The audit of the copy. Its violations, if any, are those of the original.
    pub audit: AuditReport,
}

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(
        "{place} has rows in the table {table}, and a store is copied into an empty schema only; name another one in the address (?schema=NAME), or drop it"
    )]
    NotEmpty { place: String, table: String },
    #[error(
        "{0} has an unfinished copy of another store, or of this one before it was changed; drop its schema, and copy again"
    )]
    OtherCopy(String),
    #[error("{0} has a complete copy of this store already; start the gateway on it")]
    Complete(String),
    #[error(
        "{0} belongs to another pepper than this data folder; name another schema in the address (?schema=NAME), or drop it"
    )]
    OtherPepper(String),
    #[error("the table {table} cannot be copied: {reason}")]
    UnknownTable { table: String, reason: String },
    #[error("the copy differs from the data folder: {0}; drop the schema, and copy again")]
    Differs(String),
}
