//! The audit log: who changed what, from where, and how. Each row has a keyed hash over itself and the hash of the row before
//! it, and the end of the log is sealed where the rows are not. Somebody who can write to the database but does not have the key
//! can neither alter, remove, insert nor append a row unnoticed.

use crate::hex::hex;
use crate::ids::AccountId;
use crate::money::Money;
use crate::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;

/// One change for the audit log. It has no secret and no message text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The account that the change concerns; none if it concerns the whole gateway.
    pub account: Option<AccountId>,
    /// Who made the change: `operator`, `operator ann`, `user ann@example.com`, `file setup.toml`.
    pub by: String,
    /// The address that the request came from; empty for a command on the gateway's own machine.
    pub from: String,
    /// What was done, such as `key.update`.
    pub action: String,
    /// What it was done to, such as the name of the key.
    pub subject: String,
    /// Before and after, as JSON.
    pub detail: String,
}

/// Which rows of the audit log are wanted. Empty texts and `None` want all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub account: Option<AccountId>,
    /// A part of who made the change, in any case of letters.
    pub by: String,
    /// What was done: a kind such as `key`, or a whole action such as `key.update`.
    pub action: String,
    pub since: Option<Timestamp>,
}

/// The key of the hashes and seals. It is derived from the pepper, which is not in the database.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditKey(pub [u8; 32]);

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(..)")
    }
}

/// A change of an account's money that a row is about, as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPosting {
    /// The id of the ledger entry.
    pub entry: i64,
    pub balance: Money,
    pub credit_used: Money,
}

/// The hash of a row: HMAC-SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The hash before the first row.
    pub const START: AuditHash = AuditHash([0; 32]);

    /// Returns the first 16 digits, which are enough to compare by eye.
    pub fn short(&self) -> String {
        hex(&self.0[..8])
    }
}

/// A row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// 1 for the first; no number is left out.
    pub number: u64,
    pub entry: AuditEntry,
    pub posting: Option<AuditPosting>,
    pub hash: AuditHash,
}

/// Where the end of the log is sealed, apart from its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealPlace {
    /// A row of another table.
    Database,
    /// A file beside the database.
    File,
}

/// Shows that an end was the end of the log at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSeal(pub [u8; 32]);

/// The last row of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEnd {
    /// 0 if there is no row.
    pub number: u64,
    pub hash: AuditHash,
}

impl AuditEnd {
    /// The end of an empty log.
    pub const EMPTY: AuditEnd = AuditEnd { number: 0, hash: AuditHash::START };

    /// Returns the row that follows.
    #[must_use]
    pub fn append(self, key: AuditKey, entry: AuditEntry, posting: Option<AuditPosting>) -> AuditRow {
        let number = self.number + 1;
        let hash = hash(key, self.hash, number, &entry, posting);
        AuditRow { number, entry, posting, hash }
    }

    /// Whether this row can follow: it has the next number, and its hash fits.
    pub fn is_before(self, key: AuditKey, row: &AuditRow) -> bool {
        let AuditRow { number, entry, posting, hash: found } = row;
        *number == self.number + 1 && *found == hash(key, self.hash, *number, entry, *posting)
    }

    /// Returns the seal of this end.
    pub fn seal(self, key: AuditKey, place: SealPlace) -> AuditSeal {
        let what: &[u8] = match place {
            SealPlace::Database => b"head in the database",
            SealPlace::File => b"head in a file",
        };
        let mut mac = keyed(key, what);
        mac.update(&self.number.to_be_bytes());
        mac.update(&self.hash.0);
        AuditSeal(mac.finalize().into_bytes().into())
    }
}

impl From<&AuditRow> for AuditEnd {
    fn from(row: &AuditRow) -> AuditEnd {
        AuditEnd { number: row.number, hash: row.hash }
    }
}

/// Each field is hashed with its length before it, so that two different rows never hash the same octets.
fn hash(
    key: AuditKey,
    before: AuditHash,
    number: u64,
    entry: &AuditEntry,
    posting: Option<AuditPosting>,
) -> AuditHash {
    let AuditEntry { at, account, by, from, action, subject, detail } = entry;
    let mut mac = keyed(key, b"row");
    mac.update(&before.0);
    mac.update(&number.to_be_bytes());
    mac.update(&at.as_millis().to_be_bytes());
    mac.update(&[u8::from(account.is_some())]);
    mac.update(&account.map_or(0, AccountId::get).to_be_bytes());
    for text in [by, from, action, subject, detail] {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        mac.update(&length.to_be_bytes());
        mac.update(text.as_bytes());
    }
    if let Some(AuditPosting { entry, balance, credit_used }) = posting {
        for figure in [entry, balance.as_micros(), credit_used.as_micros()] {
            mac.update(&figure.to_be_bytes());
        }
    }
    AuditHash(mac.finalize().into_bytes().into())
}

/// Returns a keyed hash for a purpose, which has its length before it.
fn keyed(key: AuditKey, purpose: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes a key of any length");
    mac.update(&u64::try_from(purpose.len()).unwrap_or(u64::MAX).to_be_bytes());
    mac.update(purpose);
    mac
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
