-- A store of schema 2: as that of schema 1, with what its migration made of it; ids of two days, one of them given in
-- lower case with zeros, and receipts of two carriers that wait for their answers.
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
CREATE TABLE timeline (
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    what        TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL,
    message     INTEGER,
    note        TEXT    NOT NULL
, reference TEXT) STRICT;
CREATE TABLE writer (
    commits     INTEGER NOT NULL
) STRICT;
CREATE TABLE balance (
    account     INTEGER PRIMARY KEY,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL
) STRICT;
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
CREATE TABLE daily (
    account     INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    spend       INTEGER NOT NULL,
    PRIMARY KEY (account, day)
) WITHOUT ROWID, STRICT;
CREATE TABLE opt_out (
    account     INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    how         TEXT    NOT NULL,
    PRIMARY KEY (account, number)
) WITHOUT ROWID, STRICT;
CREATE TABLE inbound (
    account     INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    PRIMARY KEY (account, id)
) WITHOUT ROWID, STRICT;
CREATE TABLE inbound_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL,
    message     INTEGER NOT NULL
) STRICT;
CREATE TABLE review (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    account     INTEGER NOT NULL,
    digest      BLOB    NOT NULL,
    source      TEXT    NOT NULL,
    dest        INTEGER NOT NULL,
    text        TEXT    NOT NULL,
    rules       TEXT    NOT NULL,
    opened_at   INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    seen        INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    decided_at  INTEGER,
    decided_by  TEXT    NOT NULL,
    UNIQUE (account, digest)
) STRICT;
CREATE TABLE remote_20773 ( carrier INTEGER NOT NULL, remote BLOB NOT NULL, account INTEGER NOT NULL, message INTEGER NOT NULL, part INTEGER NOT NULL, verdict INTEGER, err INTEGER NOT NULL, PRIMARY KEY (carrier, remote) ) WITHOUT ROWID, STRICT;
CREATE INDEX timeline_message ON timeline (message);
CREATE INDEX ledger_account ON ledger (account, id);
CREATE UNIQUE INDEX ledger_one_refund ON ledger (message) WHERE message IS NOT NULL;
CREATE UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL;
CREATE INDEX ledger_at ON ledger (account, at);
CREATE INDEX review_state ON review (state);
CREATE INDEX review_open ON review (account) WHERE state = 0;
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15458579251200000, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 70, 65000, 1794918600000, 4, 3, 0, 1794918600000);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000000, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 71, 65000, 1795177800000, 3, 2, 0, 1794918600000);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000001, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 72, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000002, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 1, 73, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO message (id, account, connection, carrier, source, dest, text, encoding, parts, reference, cost, expires_at, state, dlr, err, settled_at) VALUES (15526526976000003, 1, 1, 1, 'Hermod', 4915112345678, 'hello', 0, 2, 74, 65000, 1795177800000, 0, 7, 0, NULL);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000001, 1, 4, 0, 1, 0, 0, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000002, 1, 4, 0, 1, 0, 0, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000003, 1, 0, 0, 1, 0, 0, 1795177800000);
INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at) VALUES (1, 1, 15526526976000003, 2, 0, 0, 1, 0, 0, 1795177800000);
INSERT INTO timeline (message, at, part, what, detail) VALUES (15526526976000002, 1794918600000, 1, 'in_doubt', 'no answer; will be sent once more');
INSERT INTO ledger (id, account, at, kind, balance, credit_used, message, note, reference) VALUES (1, 1, 1794659400000, 1, 1000000000, 0, NULL, 'by a test', NULL);
INSERT INTO ledger (id, account, at, kind, balance, credit_used, message, note, reference) VALUES (2, 1, 1794918600000, 2, 65000, 0, 15458579251200000, '', NULL);
INSERT INTO writer (commits) VALUES (7);
INSERT INTO balance (account, balance, credit_used) VALUES (1, 999740000, 0);
INSERT INTO catalogue (kind, id, name, body) VALUES ('account', 1, 'alice', '{"currency":"EUR","credit_limit":"0","minimum":"0","verified":true}');
INSERT INTO key_20774 (digest, message, fingerprint) VALUES (X'3C6EF372FE94F82A0000000000000000', 15526526976000001, 2);
INSERT INTO key_20774 (digest, message, fingerprint) VALUES (X'9E3779B97F4A7C150000000000000000', 15526526976000000, 1);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'30306165', 1, 15526526976000002, 1, NULL, 0);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'61', 1, 15526526976000000, 1, NULL, 0);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'62', 1, 15526526976000001, 1, NULL, 0);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'707070', 0, 0, 0, 2, 0);
INSERT INTO remote_20774 (carrier, remote, account, message, part, verdict, err) VALUES (2, X'707070', 0, 0, 0, 3, 12);
INSERT INTO daily (account, day, messages, spend) VALUES (1, 20771, 1, 65000);
INSERT INTO daily (account, day, messages, spend) VALUES (1, 20774, 4, 260000);
INSERT INTO remote_20773 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'303030', 1, 15458579251200000, 1, NULL, 0);
INSERT INTO remote_20773 (carrier, remote, account, message, part, verdict, err) VALUES (1, X'707070', 0, 0, 0, 1, 0);
PRAGMA user_version = 2;
COMMIT;
