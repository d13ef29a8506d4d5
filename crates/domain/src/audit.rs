//! The audit log: who changed what, from where, and how. Each row has a hash over itself and the hash of the row before it, so
//! that a row that was altered, removed or put between others is found.

use crate::ids::AccountId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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

/// The hash of a row: SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The hash before the first row.
    pub const START: AuditHash = AuditHash([0; 32]);

    /// Returns the first 16 digits, which are enough to compare by eye.
    pub fn short(&self) -> String {
        self.0.iter().take(8).map(|octet| format!("{octet:02x}")).collect()
    }
}

/// A row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// 1 for the first; no number is left out.
    pub number: u64,
    pub entry: AuditEntry,
    pub hash: AuditHash,
}

/// The last row of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn append(self, entry: AuditEntry) -> AuditRow {
        let number = self.number + 1;
        let hash = hash(self.hash, number, &entry);
        AuditRow { number, entry, hash }
    }

    /// Whether this row can follow: it has the next number, and its hash fits.
    pub fn is_before(self, row: &AuditRow) -> bool {
        row.number == self.number + 1 && row.hash == hash(self.hash, row.number, &row.entry)
    }
}

impl From<&AuditRow> for AuditEnd {
    fn from(row: &AuditRow) -> AuditEnd {
        AuditEnd { number: row.number, hash: row.hash }
    }
}

/// Each field is hashed with its length before it, so that two different rows never hash the same octets.
fn hash(before: AuditHash, number: u64, entry: &AuditEntry) -> AuditHash {
    let AuditEntry { at, account, by, from, action, subject, detail } = entry;
    let mut sha = Sha256::new();
    sha.update(before.0);
    sha.update(number.to_be_bytes());
    sha.update(at.as_millis().to_be_bytes());
    sha.update([u8::from(account.is_some())]);
    sha.update(account.map_or(0, AccountId::get).to_be_bytes());
    for text in [by, from, action, subject, detail] {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        sha.update(length.to_be_bytes());
        sha.update(text.as_bytes());
    }
    AuditHash(sha.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(subject: &str) -> AuditEntry {
        AuditEntry {
            at: Timestamp::from_millis(1_700_000_000_000),
            account: Some(AccountId::new(7)),
            by: "operator".to_owned(),
            from: "192.0.2.1".to_owned(),
            action: "key.update".to_owned(),
            subject: subject.to_owned(),
            detail: "{}".to_owned(),
        }
    }

    fn is_chain(rows: &[AuditRow]) -> bool {
        let mut end = AuditEnd::EMPTY;
        rows.iter().all(|row| {
            let fits = end.is_before(row);
            end = row.into();
            fits
        })
    }

    fn chain() -> Vec<AuditRow> {
        let mut end = AuditEnd::EMPTY;
        let append = |subject: &&str| {
            let row = end.append(entry(subject));
            end = (&row).into();
            row
        };
        ["one", "two", "three"].iter().map(append).collect()
    }

    #[test]
    fn appended_rows_are_a_chain() {
        assert!(is_chain(&chain()));
        assert_eq!(chain().iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn altered_removed_or_swapped_row_breaks_the_chain() {
        let alterations: [fn(&mut AuditEntry); 7] = [
            |entry| entry.at = Timestamp::from_millis(1),
            |entry| entry.account = None,
            |entry| entry.by.push('x'),
            |entry| entry.from.clear(),
            |entry| entry.action.push('x'),
            |entry| entry.subject.push('x'),
            |entry| entry.detail.push(' '),
        ];
        for alter in alterations {
            let mut rows = chain();
            alter(&mut rows[1].entry);
            assert!(!is_chain(&rows));
        }
        let mut rows = chain();
        rows.remove(1);
        assert!(!is_chain(&rows));
        let mut rows = chain();
        rows.swap(0, 1);
        assert!(!is_chain(&rows));
    }

    #[test]
    fn text_moved_between_fields_changes_the_hash() {
        let (mut one, mut other) = (entry("ab"), entry("a"));
        one.detail = "c".to_owned();
        other.detail = "bc".to_owned();
        assert_ne!(AuditEnd::EMPTY.append(one).hash, AuditEnd::EMPTY.append(other).hash);
    }
}
