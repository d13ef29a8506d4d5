//! Writes the audit log in the batch of the change that it is about.

use crate::batch::Batch;
use crate::tables::{AuditLogChange, TableError};
use hermod_domain::audit::{AuditEnd, AuditEntry};

impl Batch<'_> {
    /// Appends entries to the audit log.
    pub fn append_to_audit_log(&mut self, entries: &[AuditEntry]) -> Result<(), TableError> {
        let mut end = self.tables.read()?.audit_log_end()?;
        for entry in entries {
            let row = end.append(entry.clone());
            end = AuditEnd::from(&row);
            self.tables.write(AuditLogChange::Add(row));
        }
        Ok(())
    }
}
