//! The parts whose receipts are late.

/// Parts of messages that a carrier has taken whole and whose receipts have not come soon; among them those that were
/// reported UNKNOWN. They stand apart so that starts, rollbacks and sweeps need not pass over them. The index is partial:
/// a part that was reported UNKNOWN is waited for no more. Its condition is that of the queries, word for word.
pub(super) const TABLE: &str = "
CREATE TABLE late_part (
    carrier     INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    no          INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    doubts      INTEGER NOT NULL,
    resend      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (carrier, account, message, no)
) WITHOUT ROWID, STRICT;
CREATE INDEX late_part_expiry ON late_part (carrier, expires_at, account, message, no) WHERE state IN (3, 4, 5);
CREATE VIEW open_part AS
    SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at FROM part
    UNION ALL
    SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at FROM late_part;
";
