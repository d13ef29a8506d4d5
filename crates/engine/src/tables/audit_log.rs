//! The tables of the audit log: its rows, which are only added, and its sealed end.

use crate::tables::TableError;
use crate::tables::columns::{OnlyRow, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditHash, AuditPosting, AuditRow, AuditSeal};
use serde::{Deserialize, Serialize};

/// The end of the log in a place where its rows are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

one_column! {
    AuditHash: Octets, |hash| (&hash.0).into(), |octets| (*octets).try_into().ok().map(AuditHash);
    AuditSeal: Octets, |seal| (&seal.0).into(), |octets| (*octets).try_into().ok().map(AuditSeal);
}

stored_fields! { AuditEntry { at, account, by => author, from => origin, action, subject, detail } }
stored_fields! { AuditPosting { entry => posting, balance => posted_balance, credit_used => posted_credit } }
stored_fields! { AuditEnd { number, hash } }

stored_table! {
    audit_log: AuditRow { number, entry, posting, hash }, key (number: u64),
    indexes [
        "INDEX audit_log_account ON audit_log (account, number) WHERE account IS NOT NULL",
        "UNIQUE INDEX audit_log_posting ON audit_log (posting) WHERE posting IS NOT NULL",
    ]
}
stored_table! { audit_head: SealedEnd { end, seal }, one row }

/// Reads the audit log.
pub trait AuditLogRows {
    /// Returns the last row and the sealed end.
    fn audit_log_end(&self) -> Result<AuditLogEnd, TableError>;
}
