//! The audit log.

use super::MemoryTables;
use hermod_domain::audit::AuditEnd;
use hermod_engine::tables::{AuditLogEnd, AuditLogRows, OnlyRow, TableError};

impl AuditLogRows for MemoryTables {
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError> {
        let rows = self.read();
        let last = rows.audit_log.last_key_value().map_or(AuditEnd::EMPTY, |(_, row)| AuditEnd::from(&**row));
        Ok(AuditLogEnd { last, sealed: rows.audit_head.get(&OnlyRow).map(|row| **row) })
    }
}
