//! The audit log.

use super::MemoryTables;
use hermod_domain::audit::AuditEnd;
use hermod_engine::tables::{AuditLogChange, AuditLogRows, TableError};

impl AuditLogRows for MemoryTables {
    fn audit_log_end(&self) -> Result<AuditEnd, TableError> {
        Ok(self.read().audit_log.last_key_value().map_or(AuditEnd::EMPTY, |(_, row)| AuditEnd::from(row)))
    }

    fn change_audit_log(&self, change: &AuditLogChange) -> Result<(), TableError> {
        let AuditLogChange::Add(row) = change;
        self.write().audit_log.add(row.number, row.clone());
        Ok(())
    }
}
