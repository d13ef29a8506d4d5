//! The report of an audit.

use crate::record::database::comparing::RecordAudit;
use hermod_domain::audit::AuditEnd;
use hermod_domain::time::Timestamp;

/// The result of an audit.
#[derive(Clone, Debug)]
pub struct AuditReport {
    pub messages: u64,
    pub accounts: u64,
    /// Parts of messages that are not final.
    pub open_parts: u64,
    /// Open parts that are queued, in doubt, or sent without a response yet.
    pub waiting_parts: u64,
    /// Resends of parts in doubt, of the messages that are kept.
    pub resends: u64,
    /// Messages accepted before this time are purged, and their costs are rolled up in the ledger.
    pub purged_before: Option<Timestamp>,
    pub record: RecordAudit,
    /// The last row of the audit log.
    pub audit_log: AuditEnd,
    /// Whether the key was there to check the hashes and the sealed end of the audit log.
    pub is_audit_log_checked: bool,
    /// Whether the audit log has rows, and the folder of the embedded store lacks the file with its end.
    pub lacks_audit_file: bool,
    pub violations: Vec<Violation>,
}

/// One row, or group of rows, that violates a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    pub detail: String,
}

impl AuditReport {
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}
