-- The tables of the embedded store.
--
-- Carrier ids are in one table per day (`remote_20771`), created with the first id of the day: an index on random values
-- that grows for weeks would slow every insert. An expired day is renamed to `retired_remote_<day>`, emptied in steps and dropped.

-- Messages. `whole`: 1 if the carrier gets the whole text in one submit_sm, whose message has one row in `part`, whatever `parts`
-- says. `tlvs`: optional parameters (TLVs) of the customer, passed on to the carrier. `shape`: what differs from a plain text.
-- `origin`: how it was submitted over SMPP, and which DLRs were requested. See blobs.rs.
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
    settled_at  INTEGER,
    whole       INTEGER NOT NULL DEFAULT 0,
    tlvs        BLOB,
    shape       BLOB,
    origin      BLOB
) STRICT;

-- The parts of messages that are not final. The key gives the order of a carrier's queue per account. The index of deferred parts
-- is partial, so that only they cost a write; SQLite uses it only for queries with the same condition. `state` is in it so that
-- those queries need not read the rows.
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
CREATE INDEX part_due ON part (carrier, account, due_at, message, no, state)
    WHERE due_at > 0 AND state IN (0, 2);

-- Parts of messages that a carrier has accepted completely and whose receipts have not come soon, including those reported
-- UNKNOWN. They have their own table so that starts, rollbacks and sweeps need not read them. The index is partial: a part that
-- was reported UNKNOWN no longer expires. SQLite uses it only for queries with the same condition.
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

-- The unusual steps of a message: doubts, resends, temporary errors, late receipts.
CREATE TABLE timeline (
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    what        TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE INDEX timeline_message ON timeline (message);

-- One row: the highest reserved step id. Ids are reserved in advance, because most steps have no row in the timeline.
CREATE TABLE step_counter (
    reserved    INTEGER NOT NULL
) STRICT;
INSERT INTO step_counter (reserved) VALUES (0);

-- Exceptional facts about messages that later decisions need.
CREATE TABLE message_exception (
    message       INTEGER PRIMARY KEY,
    failed_over   INTEGER NOT NULL,
    unknown_at    INTEGER,
    late_receipts INTEGER NOT NULL
) STRICT;

-- A carrier that rejected a message does not get it again.
CREATE TABLE carrier_refusal (
    message     INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    PRIMARY KEY (message, carrier)
) WITHOUT ROWID, STRICT;

-- Unreadable rows that were set aside: one row for each part that was removed from the queues because its row, or that of its
-- message, is unreadable, with the columns of `part` as they were; or one for a message whose own row is unreadable, with NULL in
-- the columns of a part.
CREATE TABLE set_aside (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    carrier     INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    no          INTEGER,
    state       INTEGER,
    doubts      INTEGER,
    resend      INTEGER,
    attempts    INTEGER,
    due_at      INTEGER,
    expires_at  INTEGER
) STRICT;
CREATE INDEX set_aside_message ON set_aside (message);

-- Every change of a balance other than the charge of a message. Statements are in order of time, which is not always the order
-- of ids. Purged messages have one entry per account and day for their costs (6), and one for their refunds (7).
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL,
    message     INTEGER,
    note        TEXT    NOT NULL,
    reference   TEXT
) STRICT;
CREATE INDEX ledger_account ON ledger (account, id);
CREATE UNIQUE INDEX ledger_one_refund ON ledger (message) WHERE message IS NOT NULL;
CREATE UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL;
CREATE INDEX ledger_at ON ledger (account, at);
CREATE UNIQUE INDEX ledger_rolled_up ON ledger (account, at, kind) WHERE kind IN (6, 7);

-- The balance of each account.
CREATE TABLE balance (
    account     INTEGER PRIMARY KEY,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL
) STRICT;

-- Messages and charges of each account per UTC day of acceptance. Refunds do not reduce them.
CREATE TABLE daily (
    account     INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    spend       INTEGER NOT NULL,
    PRIMARY KEY (account, day)
) WITHOUT ROWID, STRICT;

-- One row. `store`: the id of the history, which its journal has too; a copy gets a new one when it is started. `commits`: the last
-- batch of the journal that the database has, and `checksum` that of its record. `is_copy`: a copy that was never started.
CREATE TABLE writer (
    commits     INTEGER NOT NULL,
    store       BLOB    NOT NULL DEFAULT x'',
    checksum    INTEGER,
    is_copy     INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO writer (commits, store) VALUES (0, randomblob(16));

-- The setup: accounts, connections, carriers, routes, users.
CREATE TABLE catalogue (
    kind        TEXT    NOT NULL,
    id          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
) WITHOUT ROWID, STRICT;

-- The entries of provision files as they were last applied: one row per entry that a file mentioned or removed. The gateway
-- compares the next file with it, and applies only what changed in the file. Secrets are in their stored form: sealed or hashed.
CREATE TABLE provisioned (
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID, STRICT;

-- Who changed what, each line with the hash of those before it; and the ledger entry that a line is about, with its amounts.
CREATE TABLE audit_log (
    number         INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    account        INTEGER,
    author         TEXT    NOT NULL,
    origin         TEXT    NOT NULL,
    action         TEXT    NOT NULL,
    subject        TEXT    NOT NULL,
    detail         TEXT    NOT NULL,
    hash           BLOB    NOT NULL,
    posting        INTEGER,
    posted_balance INTEGER,
    posted_credit  INTEGER
) STRICT;
CREATE INDEX audit_log_account ON audit_log (account, number) WHERE account IS NOT NULL;
CREATE UNIQUE INDEX audit_log_posting ON audit_log (posting) WHERE posting IS NOT NULL;

-- The end of the audit log, apart from its rows.
CREATE TABLE audit_head (
    id          INTEGER PRIMARY KEY,
    number      INTEGER NOT NULL,
    hash        BLOB    NOT NULL,
    seal        BLOB    NOT NULL
) STRICT;

-- Erasures of phone numbers, by keyed digests of the numbers. Account 0: all accounts.
CREATE TABLE erasure (
    digest      BLOB    NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (digest, account)
) WITHOUT ROWID, STRICT;

-- The tokens of users: sessions and one-time links, by the digest of the token.
CREATE TABLE user_token (
    digest      BLOB    PRIMARY KEY,
    user        INTEGER NOT NULL,
    purpose     INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    body        TEXT    NOT NULL
) WITHOUT ROWID, STRICT;
CREATE INDEX user_token_user ON user_token (user);
CREATE INDEX user_token_expiry ON user_token (expires_at);

-- The requests of customers to the operator.
CREATE TABLE customer_request (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    subject     TEXT    NOT NULL,
    connection  INTEGER,
    details     TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    ended_at    INTEGER,
    ended_by    TEXT    NOT NULL,
    reason      TEXT    NOT NULL
) STRICT;
CREATE INDEX customer_request_account ON customer_request (account, id);
CREATE INDEX customer_request_state ON customer_request (state, id);

-- Messages held for review. `reason`: what the customer is told. AUTOINCREMENT: the id of a deleted case is never reused.
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
    reason      TEXT    NOT NULL DEFAULT '',
    UNIQUE (account, digest)
) STRICT;
CREATE INDEX review_state ON review (state);
CREATE INDEX review_open ON review (account) WHERE state = 0;
CREATE INDEX review_account ON review (account, id);

-- Recipients that opted out of an account's messages.
CREATE TABLE opt_out (
    account     INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    how         TEXT    NOT NULL,
    PRIMARY KEY (account, number)
) WITHOUT ROWID, STRICT;

-- Idempotency keys. The latest: one row per batch that accepted messages with keys, by the batch's last message.
CREATE TABLE key_log (
    last        INTEGER PRIMARY KEY,
    entries     BLOB    NOT NULL
) STRICT;

-- Immutable sets of keys. State: 1 is being built by a merge, 2 is in use, 3 is being deleted.
CREATE TABLE key_bucket (
    id          INTEGER PRIMARY KEY,
    state       INTEGER NOT NULL,
    blocks      INTEGER NOT NULL,
    keys        INTEGER NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL
) STRICT;

-- `id`: the bucket's number times 2^32, plus the block's number. The first octets of a digest select the block.
CREATE TABLE key_block (
    id          INTEGER PRIMARY KEY,
    entries     BLOB    NOT NULL
) STRICT;

-- `id`: the bucket's number times 2^32, plus the segment's number. The filter has 64 octets per block.
CREATE TABLE key_filter (
    id          INTEGER PRIMARY KEY,
    filter      BLOB    NOT NULL
) STRICT;

-- Messages with ids below `upto` are purged: 1 their texts, 2 their records, 3 their idempotency keys.
CREATE TABLE retention (
    what        INTEGER PRIMARY KEY,
    upto        INTEGER NOT NULL
) STRICT;
INSERT INTO retention (what, upto) VALUES (1, 0), (2, 0), (3, 0);

-- Parts that a carrier accepted without a usable id. Their receipts can be matched only by recipient and time. A row is deleted
-- when a receipt was matched to it.
CREATE TABLE unnamed (
    carrier     INTEGER NOT NULL,
    dest        INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (carrier, dest, message, part)
) WITHOUT ROWID, STRICT;

-- Parked receipts: they matched no part. `raw` is the id as the carrier wrote it, empty where that equals `key`.
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
CREATE INDEX parked_at ON parked (carrier, at);

-- The numbers of receipts that were given up: after 72 hours, or because too many were parked.
CREATE TABLE receipt_loss (
    day         INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    too_old     INTEGER NOT NULL,
    crowded_out INTEGER NOT NULL,
    PRIMARY KEY (day, carrier)
) WITHOUT ROWID, STRICT;

-- The results of parts that carriers accepted, by the day of acceptance.
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

-- Short message ids for SMPP 3.3 binds, which allow 8 hexadecimal digits.
CREATE TABLE alias (
    account     INTEGER NOT NULL,
    alias       INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    PRIMARY KEY (account, alias)
) WITHOUT ROWID, STRICT;

-- The last alias of each account; the search for the next free one starts there.
CREATE TABLE alias_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL
) STRICT;

-- Reports that wait for delivery. The key gives their order per connection. `hooked`: 1 if the report is also sent by webhook. For
-- a report that delivers an MO message: its account, and its number there. `told` is then 200.
CREATE TABLE report (
    connection  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    told        INTEGER NOT NULL,
    err         INTEGER NOT NULL,
    delivered   INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    hooked      INTEGER NOT NULL DEFAULT 0,
    account     INTEGER,
    inbound     INTEGER,
    PRIMARY KEY (connection, id)
) WITHOUT ROWID, STRICT;

-- Reports that were given up. `status` is the customer's error status; NULL: no bind took the report in time.
CREATE TABLE given_up (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    connection  INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    told        INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    given_up_at INTEGER NOT NULL,
    status      INTEGER
) STRICT;
CREATE INDEX given_up_account ON given_up (account, id);

-- Webhook events that wait to be posted, and when they are due. A DLR (kind 1) has its content in the row; an MO message (kind 2)
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

-- MO messages, numbered by account. `wire`: addresses and encoding for delivery over SMPP (see mo_blobs.rs). `missing`: parts that
-- never arrived.
CREATE TABLE inbound (
    account     INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    received_at INTEGER NOT NULL,
    wire        BLOB,
    missing     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, id)
) WITHOUT ROWID, STRICT;

-- The last number and message id of each account. Kept when the messages are purged, so that none is used twice.
CREATE TABLE inbound_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL,
    message     INTEGER NOT NULL
) STRICT;

-- Digests of recent MO messages. A carrier sends a message again if it got no response.
CREATE TABLE inbound_seen (
    carrier     INTEGER NOT NULL,
    digest      BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    PRIMARY KEY (carrier, digest)
) WITHOUT ROWID, STRICT;
CREATE INDEX inbound_seen_until ON inbound_seen (until);

-- Concatenated messages with missing parts.
CREATE TABLE inbound_group (
    id          INTEGER PRIMARY KEY,
    carrier     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    reference   INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    ends        BLOB    NOT NULL,
    parts       INTEGER NOT NULL,
    octets      INTEGER NOT NULL,
    since       INTEGER NOT NULL,
    UNIQUE (carrier, source, dest, reference, total)
) STRICT;
CREATE INDEX inbound_group_since ON inbound_group (since);
CREATE INDEX inbound_group_oldest ON inbound_group (carrier, since);
CREATE TABLE inbound_part (
    grp         INTEGER NOT NULL,
    no          INTEGER NOT NULL,
    coding      INTEGER NOT NULL,
    alphabet    INTEGER NOT NULL,
    header      BLOB    NOT NULL,
    octets      BLOB    NOT NULL,
    PRIMARY KEY (grp, no)
) WITHOUT ROWID, STRICT;

-- Unassigned messages: no account owns the number.
CREATE TABLE unassigned_inbound (
    message     INTEGER PRIMARY KEY,
    carrier     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    wire        BLOB    NOT NULL,
    missing     INTEGER NOT NULL,
    received_at INTEGER NOT NULL
) STRICT;

-- The account that last wrote to a handset from a shared number.
CREATE TABLE conversation (
    handset     INTEGER NOT NULL,
    number      TEXT    NOT NULL,
    account     INTEGER NOT NULL,
    connection  INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (handset, number)
) WITHOUT ROWID, STRICT;
