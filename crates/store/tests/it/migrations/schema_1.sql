-- A store of the first release, schema 1: delivered, refunded, submitted and waiting messages of one account.
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE message (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    connection  INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        INTEGER NOT NULL,
    text        TEXT,
    encoding    INTEGER NOT NULL,
    parts       INTEGER NOT NULL,
    reference   INTEGER NOT NULL,
    cost        INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    dlr         INTEGER NOT NULL,
    err         INTEGER NOT NULL,
    settled_at  INTEGER
) STRICT;

-- The parts of messages that have not ended. Keyed so that a carrier's queue reads in order, account by account.
CREATE TABLE part (
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

-- What happened to a message beside its ordinary way: doubts, resends, temporary errors, late receipts.
CREATE TABLE timeline (
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    what        TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE INDEX timeline_message ON timeline (message);

-- Every change of a balance that is not a message's own cost.
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL,
    message     INTEGER,
    note        TEXT    NOT NULL
) STRICT;
CREATE INDEX ledger_account ON ledger (account, id);
CREATE UNIQUE INDEX ledger_one_refund ON ledger (message) WHERE message IS NOT NULL;

-- One row: how many times the writer has committed. See mark.rs.
CREATE TABLE writer (
    commits     INTEGER NOT NULL
) STRICT;
INSERT INTO writer (commits) VALUES (0);

CREATE TABLE balance (
    account     INTEGER PRIMARY KEY,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL
) STRICT;

-- An in-memory filter for each past day's keys, so that a new key costs no look-up in a year of old ones.
CREATE TABLE key_filter (
    day         INTEGER PRIMARY KEY,
    filter      BLOB NOT NULL
) STRICT;

CREATE TABLE catalogue (
    kind        TEXT    NOT NULL,
    id          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
) WITHOUT ROWID, STRICT;
CREATE TABLE key_20774 (digest BLOB PRIMARY KEY, message INTEGER NOT NULL, fingerprint INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE remote_20774 ( carrier INTEGER NOT NULL, remote BLOB NOT NULL, account INTEGER NOT NULL, message INTEGER NOT NULL, part INTEGER NOT NULL, verdict INTEGER, err INTEGER NOT NULL, PRIMARY KEY (carrier, remote) ) WITHOUT ROWID, STRICT;
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15458579251200000, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 70, 65000, 1794918600000, 4, 3, 0, 1794918600000);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000000, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 71, 65000, 1795177800000, 3, 2, 0, 1794918600000);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000001, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 72, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000002, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 73, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000003, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 2, 74, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000001, 1, 4, 0, 1, 0, 0, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000002, 1, 2, 1, 1, 0, 1794918630000, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000003, 1, 0, 0, 1, 0, 0, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000003, 2, 0, 0, 1, 0, 0, 1795177800000);
INSERT INTO timeline (message, at, part, what, detail) VALUES (15526526976000002, 1794918600000, 1, 'in_doubt', 'no answer; will be sent once more');
INSERT INTO ledger (id, account, at, kind, balance, credit_used, message, note) VALUES (1, 1, 1794659400000, 1, 1000000000, 0, NULL, 'by a test');
INSERT INTO ledger (id, account, at, kind, balance, credit_used, message, note) VALUES (2, 1, 1794918600000, 2, 65000, 0, 15458579251200000, '');
UPDATE writer SET commits = 7;
INSERT INTO balance (account, balance, credit_used) VALUES (1, 999740000, 0);
INSERT INTO key_20774 (digest, message, fingerprint) VALUES (X'3C6EF372FE94F82A0000000000000000', 15526526976000001, 2);
INSERT INTO key_20774 (digest, message, fingerprint) VALUES (X'9E3779B97F4A7C150000000000000000', 15526526976000000, 1);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'61', 1, 15526526976000000, 1, NULL, 0);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'62', 1, 15526526976000001, 1, NULL, 0);
INSERT INTO catalogue (kind, id, name, body) VALUES ('account', 1, 'alice', '{"currency":"EUR","credit_limit":"0","minimum":"0","verified":true}');
PRAGMA user_version = 1;
COMMIT;
