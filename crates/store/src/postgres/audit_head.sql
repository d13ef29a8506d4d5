-- The end of the audit log, apart from its rows; and the ledger entry that a row is about, with its amounts.
CREATE TABLE audit_head (
    id          bigint PRIMARY KEY,
    number      bigint NOT NULL,
    hash        bytea NOT NULL,
    seal        bytea NOT NULL
);
ALTER TABLE audit_log ADD COLUMN posting bigint;
ALTER TABLE audit_log ADD COLUMN posted_balance bigint;
ALTER TABLE audit_log ADD COLUMN posted_credit bigint;
CREATE UNIQUE INDEX audit_log_posting ON audit_log (posting) WHERE posting IS NOT NULL;
