//! Migration 5. Webhook events: those that wait, those that have ended, and every attempt.

pub(super) const TABLES: &str = "
-- Events that wait to be posted, and when they are due. A DLR (kind 1) has its content in the row; an MO message (kind 2)
-- refers to the account's row of `inbound` by number.
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

-- Events that were delivered (state 1) or given up (states 2 to 4), for lists and replays.
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

-- Every attempt: either the HTTP status, or why there was none.
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

-- One row: the last event number. Receivers recognise events by their numbers, so none is used twice.
CREATE TABLE webhook_counter (
    last        INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_counter (last) VALUES (0);

-- 1: the report is also sent by webhook.
ALTER TABLE report ADD COLUMN hooked INTEGER NOT NULL DEFAULT 0;
";
