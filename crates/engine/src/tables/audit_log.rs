//! The table of the audit log. Rows are only added.

use crate::tables::TableError;
use hermod_domain::audit::{AuditEnd, AuditRow};
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AuditLogChange {
    Add(AuditRow),
}

/// Writes the audit log.
pub trait AuditLogRows {
    /// Returns the last row.
    fn audit_log_end(&self) -> Result<AuditEnd, TableError>;

    /// Applies a change.
    fn change_audit_log(&self, change: &AuditLogChange) -> Result<(), TableError>;
}
