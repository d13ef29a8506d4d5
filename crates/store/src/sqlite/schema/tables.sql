-- The tables of the embedded store, except those that the engine describes (engine/src/tables/described.rs).
--
-- Carrier ids are in one table per day (`remote_20771`), created with the first id of the day: an index on random values
-- that grows for weeks would slow every insert. An expired day is renamed to `retired_remote_<day>`, emptied in steps and dropped.

-- Messages. `whole`: 1 if the carrier gets the whole text in one submit_sm, whose message has one row in `part`, whatever `parts`
-- says. `tlvs`: optional parameters (TLVs) of the customer, passed on to the carrier. `shape`: what differs from a plain text.
-- `origin`: how it was submitted over SMPP, and which DLRs were requested. See blobs.rs. `carrier_cost`: what the carrier was believed
-- to ask for a part when it got the message; null if that is not known. `cost_terms`: the entry, the currency and the basis of it, see
-- believed_cost.rs. `billable`: what the carrier can bill, once the message has ended, see billable.rs.
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
    origin      BLOB,
    carrier_cost INTEGER,
    cost_terms  INTEGER,
    billable    INTEGER
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

-- One row. `store`: the id of the history, which its journal has too; a copy gets a new one when it is started. `commits`: the last
-- batch of the journal that the database has, and `checksum` that of its record. `is_copy`: a copy that was never started.
CREATE TABLE writer (
    commits     INTEGER NOT NULL,
    store       BLOB    NOT NULL DEFAULT x'',
    checksum    INTEGER,
    is_copy     INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO writer (commits, store) VALUES (0, randomblob(16));

-- Erasures of phone numbers, by keyed digests of the numbers. Account 0: all accounts.
CREATE TABLE erasure (
    digest      BLOB    NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (digest, account)
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

-- The fingerprint of the pepper that the secrets in the catalogue depend on: no row or one.
CREATE TABLE pepper_fingerprint (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    fingerprint BLOB    NOT NULL
) STRICT;

-- One row: the last event number. Receivers recognise events by their numbers, so none is used twice.
CREATE TABLE webhook_counter (
    last        INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_counter (last) VALUES (0);

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
