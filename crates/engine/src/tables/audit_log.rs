//! The table of the audit log. Rows are only added.

use crate::tables::TableError;
use hermod_domain::audit::{AuditEnd, AuditRow, AuditSeal};
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AuditLogChange {
    /// A row is added, and the sealed end, which is in another table, moves to it.
    Add { row: AuditRow, seal: AuditSeal },
}

/// The end of the log in a place where its rows are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedEnd {
    pub end: AuditEnd,
    pub seal: AuditSeal,
}

/// The end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditLogEnd {
    /// The last row.
    pub last: AuditEnd,
    /// None if no row was ever written.
    pub sealed: Option<SealedEnd>,
}

/// Writes the audit log.
pub trait AuditLogRows {
    /// Returns the last row and the sealed end.
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError>;

    /// Applies a change.
    fn change_audit_log(&self, change: &AuditLogChange) -> Result<(), TableError>;
}
