-- A store of schema 4, as that release left it: three messages submitted on transmitters, the last on a 3.3 bind, which were
-- delivered while nobody was bound to hear of it.
PRAGMA journal_mode = WAL;
BEGIN TRANSACTION;
CREATE TABLE alias (
    account     INTEGER NOT NULL,
    alias       INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    PRIMARY KEY (account, alias)
) WITHOUT ROWID, STRICT;
INSERT INTO "alias" VALUES(1,268435456,15483539512098816);
CREATE TABLE alias_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL
) STRICT;
INSERT INTO "alias_counter" VALUES(1,268435456);
CREATE TABLE balance (
    account     INTEGER PRIMARY KEY,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL
) STRICT;
INSERT INTO "balance" VALUES(1,999999850000,0);
CREATE TABLE catalogue (
    kind        TEXT    NOT NULL,
    id          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
) WITHOUT ROWID, STRICT;
CREATE TABLE daily (
    account     INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    spend       INTEGER NOT NULL,
    PRIMARY KEY (account, day)
) WITHOUT ROWID, STRICT;
INSERT INTO "daily" VALUES(1,20772,3,150000);
CREATE TABLE delivery (
    day         INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    country     TEXT    NOT NULL,
    network     TEXT    NOT NULL,
    sent        INTEGER NOT NULL,
    delivered   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    expired     INTEGER NOT NULL,
    rejected    INTEGER NOT NULL,
    within_5s   INTEGER NOT NULL,
    within_15s  INTEGER NOT NULL,
    within_1m   INTEGER NOT NULL,
    within_5m   INTEGER NOT NULL,
    within_1h   INTEGER NOT NULL,
    longer      INTEGER NOT NULL,
    time_ms     INTEGER NOT NULL,
    PRIMARY KEY (day, carrier, country, network)
) WITHOUT ROWID, STRICT;
CREATE TABLE given_up (
    id           INTEGER PRIMARY KEY,
    account      INTEGER NOT NULL,
    connection   INTEGER NOT NULL,
    message      INTEGER NOT NULL,
    told         INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    given_up_at  INTEGER NOT NULL,
    status       INTEGER
) STRICT;
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
CREATE TABLE key_filter (
    day         INTEGER PRIMARY KEY,
    filter      BLOB NOT NULL
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
INSERT INTO "ledger" VALUES(1,1,1794754589781,1,1000000000000,0,NULL,'opening balance','opening balance');
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
, whole INTEGER NOT NULL DEFAULT 0, tlvs BLOB, shape BLOB, origin BLOB) STRICT;
INSERT INTO "message" VALUES(15483539504496640,1,2,1,'Hermod',4915112345601,'one',0,1,132,50000,1795013815810,3,2,0,1794754616118,0,NULL,NULL,X'01130500064865726D6F6401010D34393135313132333435363031');
INSERT INTO "message" VALUES(15483539505545216,1,2,1,'Hermod',4915112345602,'two',0,1,198,50000,1795013815814,3,2,0,1794754616139,0,NULL,NULL,X'01170500064865726D6F6401010D34393135313132333435363032');
INSERT INTO "message" VALUES(15483539512098816,1,2,1,'Hermod',4915112345603,'three',0,1,9,50000,1795013815839,3,2,0,1794754616148,0,NULL,NULL,X'015B100000000500064865726D6F6401010D34393135313132333435363033');
CREATE TABLE opt_out (
    account     INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    how         TEXT    NOT NULL,
    PRIMARY KEY (account, number)
) WITHOUT ROWID, STRICT;
CREATE TABLE parked (
    carrier     INTEGER NOT NULL,
    key         BLOB    NOT NULL,
    raw         BLOB    NOT NULL,
    verdict     INTEGER NOT NULL,
    err         INTEGER NOT NULL,
    word        TEXT,
    source      INTEGER,
    at          INTEGER NOT NULL,
    ambiguous   INTEGER NOT NULL,
    PRIMARY KEY (carrier, key, raw)
) WITHOUT ROWID, STRICT;
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
CREATE TABLE receipt_loss (
    day         INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    too_old     INTEGER NOT NULL,
    crowded_out INTEGER NOT NULL,
    PRIMARY KEY (day, carrier)
) WITHOUT ROWID, STRICT;
CREATE TABLE remote_20772 (
                 carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
                 message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
                 PRIMARY KEY (carrier, key, raw)
             ) WITHOUT ROWID, STRICT;
INSERT INTO "remote_20772" VALUES(1,X'31373934373534353839373831303433',X'',1,15483539504496640,1,4915112345601,1794754615814);
INSERT INTO "remote_20772" VALUES(1,X'31373934373534353839373831303434',X'',1,15483539505545216,1,4915112345602,1794754615838);
INSERT INTO "remote_20772" VALUES(1,X'31373934373534353839373831303435',X'',1,15483539512098816,1,4915112345603,1794754615846);
CREATE TABLE report (
    connection  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    told        INTEGER NOT NULL,
    err         INTEGER NOT NULL,
    delivered   INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (connection, id)
) WITHOUT ROWID, STRICT;
INSERT INTO "report" VALUES(2,1,15483539504496640,2,0,1,1794754616118);
INSERT INTO "report" VALUES(2,2,15483539505545216,2,0,1,1794754616139);
INSERT INTO "report" VALUES(2,3,15483539512098816,2,0,1,1794754616148);
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
CREATE TABLE timeline (
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    what        TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE TABLE writer (
    commits     INTEGER NOT NULL
) STRICT;
INSERT INTO "writer" VALUES(10);
CREATE INDEX timeline_message ON timeline (message);
CREATE INDEX ledger_account ON ledger (account, id);
CREATE UNIQUE INDEX ledger_one_refund ON ledger (message) WHERE message IS NOT NULL;
CREATE UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL;
CREATE INDEX ledger_at ON ledger (account, at);
CREATE INDEX review_state ON review (state);
CREATE INDEX review_open ON review (account) WHERE state = 0;
CREATE INDEX parked_at ON parked (carrier, at);
CREATE INDEX given_up_account ON given_up (account, id);
DELETE FROM "sqlite_sequence";
PRAGMA user_version = 4;
COMMIT;
