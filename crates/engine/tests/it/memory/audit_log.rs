//! The audit log.

use super::MemoryTables;
use hermod_domain::audit::AuditEnd;
use hermod_engine::tables::{AuditLogChange, AuditLogEnd, AuditLogRows, SealedEnd, TableError};

impl AuditLogRows for MemoryTables {
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError> {
        let rows = self.read();
        let last = rows.audit_log.last_key_value().map_or(AuditEnd::EMPTY, |(_, row)| AuditEnd::from(row));
        Ok(AuditLogEnd { last, sealed: rows.audit_head.get(&1).copied() })
    }

    fn change_audit_log(&self, change: &AuditLogChange) -> Result<(), TableError> {
        let AuditLogChange::Add { row, seal } = change;
        let rows = &mut *self.write();
        rows.audit_log.add(row.number, row.clone());
        rows.audit_head.put(1, SealedEnd { end: AuditEnd::from(row), seal: *seal });
        Ok(())
    }
}
