//! Migration 5. What is still to be posted to customers, what became of it, and every attempt.

pub(super) const TABLES: &str = "
-- What customers are still to be told over HTTP, and from when on. A delivery report (kind 1) says what it tells; a message
-- from a handset (kind 2) is the account's inbound message of that number.
CREATE TABLE webhook (
    account     INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    failures    INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    connection  INTEGER,
    told        INTEGER,
    err         INTEGER,
    form        INTEGER,
    inbound     INTEGER,
    PRIMARY KEY (account, kind, id)
) WITHOUT ROWID, STRICT;
CREATE INDEX webhook_due ON webhook (account, kind, due_at, id);

-- Events that were delivered (state 1) or given up (above), to be listed and replayed.
CREATE TABLE webhook_past (
    account     INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    connection  INTEGER,
    told        INTEGER,
    err         INTEGER,
    form        INTEGER,
    inbound     INTEGER,
    PRIMARY KEY (account, kind, id)
) WITHOUT ROWID, STRICT;
CREATE INDEX webhook_failed ON webhook_past (account, kind, id) WHERE state > 1;

-- Every post: either the receiver's status, or why it came to none.
CREATE TABLE webhook_attempt (
    account     INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    event       INTEGER NOT NULL,
    no          INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    status      INTEGER,
    failure     TEXT,
    answer      BLOB    NOT NULL,
    PRIMARY KEY (account, kind, event, no)
) WITHOUT ROWID, STRICT;

-- One row: the number given last. It outlives the events, because receivers know them by it.
CREATE TABLE webhook_counter (
    last        INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_counter (last) VALUES (0);

-- 1: a webhook tells it as well.
ALTER TABLE report ADD COLUMN hooked INTEGER NOT NULL DEFAULT 0;
";
