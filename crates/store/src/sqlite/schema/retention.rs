//! How far purging has come, and the ledger's rows that stand for messages that are gone.

pub(super) const RETENTION: &str = "
-- Everything below an id is purged: 1 of its text, 2 altogether.
CREATE TABLE retention (
    what        INTEGER PRIMARY KEY,
    upto        INTEGER NOT NULL
) STRICT;
INSERT INTO retention (what, upto) VALUES (1, 0), (2, 0);

-- One row for an account's day, of the costs (6) and of the refunds (7) of messages that are gone.
CREATE UNIQUE INDEX ledger_rolled_up ON ledger (account, at, kind) WHERE kind IN (6, 7);
";
