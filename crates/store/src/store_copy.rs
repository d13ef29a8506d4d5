//! Copying a store from a data folder to a server, or back: its steps, its result and its errors. And the fingerprint of a pepper.

use crate::read_results::AuditReport;
use std::path::PathBuf;

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
    /// The target: a folder, or a server and its database, without the password.
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
        "{} has {file} of another embedded store, and a store is copied into a folder without one only; move hermod.db, hermod.mark and the files of the journal (journal-*) out of the folder", folder.display()
    )]
    FolderNotEmpty { folder: PathBuf, file: String },
    #[error(
        "{0} has an unfinished copy of another store, or of this one before it was changed; remove it (drop the schema, or move hermod.db out of the folder), and copy again"
    )]
    OtherCopy(String),
    #[error("{0} has a complete copy of this store already; start the gateway on it")]
    Complete(String),
    #[error(
        "{0} belongs to another pepper than this data folder; name another schema in the address (?schema=NAME), or drop it"
    )]
    OtherPepper(String),
    #[error(
        "the store on {0} belongs to another pepper than this data folder; copy pepper.key from a node that works with the store, or name it with [data] pepper_file or HERMOD_PEPPER"
    )]
    OtherPepperOfSource(String),
    #[error("the table {table} cannot be copied: {reason}")]
    UnknownTable { table: String, reason: String },
    #[error(
        "the copy differs from its source: {0}; remove it (drop the schema, or move hermod.db out of the folder), and copy again"
    )]
    Differs(String),
}
