//! Migrations 23 and 24: the sealed end of the audit log, and erasures that are kept.

/// Migration 24. Erasures of phone numbers, by keyed digests of the numbers. Account 0: all accounts.
pub(super) const ERASURES: &str = "
CREATE TABLE erasure (
    digest      BLOB NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (digest, account)
) WITHOUT ROWID, STRICT;
";

/// Migration 23. The end of the audit log, apart from its rows; and the ledger entry that a row is about, with its amounts.
pub(super) const AUDIT_HEAD: &str = "
CREATE TABLE audit_head (
    id          INTEGER PRIMARY KEY,
    number      INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    seal        BLOB NOT NULL
) STRICT;
ALTER TABLE audit_log ADD COLUMN posting INTEGER;
ALTER TABLE audit_log ADD COLUMN posted_balance INTEGER;
ALTER TABLE audit_log ADD COLUMN posted_credit INTEGER;
CREATE UNIQUE INDEX audit_log_posting ON audit_log (posting) WHERE posting IS NOT NULL;
";
