//! The key and the end of the audit log, and postings that it does not have yet.

use crate::ops::Balance;
use crate::tables::{AuditLogEnd, SealedEnd, TableError, Tables};
use hermod_domain::audit::{AuditEnd, AuditKey, SealPlace};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;

/// The key of the log, and its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditLogState {
    pub key: AuditKey,
    /// None until it was read. From then on the tables are not asked, so that rows that are removed meanwhile leave a gap.
    end: Option<AuditEnd>,
}

/// A posting by a person that has no row in the log yet.
#[derive(Clone, Copy, Debug)]
pub struct UnloggedPosting {
    pub id: i64,
    pub account: AccountId,
    pub at: Timestamp,
    pub change: Balance,
}

impl AuditLogState {
    /// Returns the end that the next row follows: the sealed one, even if its rows are gone. Every audit finds the gap then.
    pub fn end(&self, tables: &Tables<'_>) -> Result<AuditEnd, TableError> {
        if let Some(end) = self.end {
            return Ok(end);
        }
        let AuditLogEnd { last, sealed } = tables.read()?.audit_log_end()?;
        let is_valid = |sealed: &SealedEnd| sealed.seal == sealed.end.seal(self.key, SealPlace::Database);
        Ok(match sealed.filter(is_valid) {
            Some(SealedEnd { end, .. }) if end.number >= last.number => end,
            _ => last,
        })
    }

    pub fn set_end(&mut self, end: AuditEnd) {
        self.end = Some(end);
    }

    /// Forgets the end, because the batch was rolled back.
    pub fn rolled_back(&mut self) {
        self.end = None;
    }
}
