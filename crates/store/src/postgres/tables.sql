-- The tables of the store on a server, except those that the engine describes (engine/src/tables/described.rs). The types of
-- columns are bigint, text and bytea only. A text that a customer or a handset wrote may contain U+0000, which PostgreSQL's text
-- cannot hold: it is stored as bytea.
-- Erasures of phone numbers, by keyed digests of the numbers. Account 0: all accounts.
CREATE TABLE erasure (
    digest      bytea NOT NULL,
    account     bigint NOT NULL,
    at          bigint NOT NULL,
    PRIMARY KEY (digest, account)
);
-- Concatenated MO messages with missing parts, their parts, and digests of recent MO messages.
CREATE TABLE inbound_group (
    id          bigint PRIMARY KEY,
    carrier     bigint NOT NULL,
    source      text COLLATE "C" NOT NULL,
    dest        text COLLATE "C" NOT NULL,
    reference   bigint NOT NULL,
    total       bigint NOT NULL,
    ends        bytea NOT NULL,
    parts       bigint NOT NULL,
    octets      bigint NOT NULL,
    since       bigint NOT NULL,
    UNIQUE (carrier, source, dest, reference, total)
);
CREATE TABLE inbound_part (
    grp         bigint NOT NULL,
    no          bigint NOT NULL,
    coding      bigint NOT NULL,
    alphabet    bigint NOT NULL,
    header      bytea NOT NULL,
    octets      bytea NOT NULL,
    PRIMARY KEY (grp, no)
);
CREATE TABLE inbound_seen (
    carrier     bigint NOT NULL,
    digest      bytea NOT NULL,
    until       bigint NOT NULL,
    PRIMARY KEY (carrier, digest)
);
-- Idempotency keys: the latest in a log, older ones in buckets of blocks with a filter.
CREATE TABLE key_block (
    id          bigint PRIMARY KEY,
    entries     bytea NOT NULL
);
CREATE TABLE key_bucket (
    id          bigint PRIMARY KEY,
    state       bigint NOT NULL,
    blocks      bigint NOT NULL,
    keys        bigint NOT NULL,
    first       bigint NOT NULL,
    last        bigint NOT NULL
);
CREATE TABLE key_filter (
    id          bigint PRIMARY KEY,
    filter      bytea NOT NULL
);
CREATE TABLE key_log (
    last        bigint PRIMARY KEY,
    entries     bytea NOT NULL
);
-- Parts of messages whose receipts are late.
CREATE TABLE late_part (
    carrier     bigint NOT NULL,
    account     bigint NOT NULL,
    message     bigint NOT NULL,
    no          bigint NOT NULL,
    state       bigint NOT NULL,
    doubts      bigint NOT NULL,
    resend      bigint NOT NULL,
    attempts    bigint NOT NULL,
    due_at      bigint NOT NULL,
    expires_at  bigint NOT NULL,
    PRIMARY KEY (carrier, account, message, no)
);
-- MT messages, from acceptance until they are purged, in partitions of ids that `partitions.rs` makes and drops. Messages for
-- which there is none are in `message_default`.
CREATE TABLE message (
    id          bigint PRIMARY KEY,
    account     bigint NOT NULL,
    connection  bigint NOT NULL,
    carrier     bigint NOT NULL,
    source      text COLLATE "C" NOT NULL,
    dest        bigint NOT NULL,
    encoding    bigint NOT NULL,
    parts       bigint NOT NULL,
    reference   bigint NOT NULL,
    cost        bigint NOT NULL,
    expires_at  bigint NOT NULL,
    state       bigint NOT NULL,
    dlr         bigint NOT NULL,
    err         bigint NOT NULL,
    settled_at  bigint,
    whole       bigint NOT NULL DEFAULT 0,
    origin      bytea,
    carrier_cost bigint,
    cost_terms  bigint,
    billable    bigint
) PARTITION BY RANGE (id);
CREATE TABLE message_default PARTITION OF message DEFAULT WITH (fillfactor = 80);
-- What customers wrote, until its retention ends: a partition for each day.
CREATE TABLE message_text (
    id          bigint PRIMARY KEY,
    text        bytea NOT NULL,
    tlvs        bytea,
    shape       bytea
) PARTITION BY RANGE (id);
CREATE TABLE message_text_default PARTITION OF message_text DEFAULT;
-- The parts of messages that are not final. The key gives the order of a queue.
CREATE TABLE part (
    carrier     bigint NOT NULL,
    account     bigint NOT NULL,
    message     bigint NOT NULL,
    no          bigint NOT NULL,
    state       bigint NOT NULL,
    doubts      bigint NOT NULL,
    resend      bigint NOT NULL,
    attempts    bigint NOT NULL,
    due_at      bigint NOT NULL,
    expires_at  bigint NOT NULL,
    PRIMARY KEY (carrier, account, message, no)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
-- Reports that wait for delivery over SMPP.
CREATE TABLE report (
    connection  bigint NOT NULL,
    id          bigint NOT NULL,
    message     bigint NOT NULL,
    told        bigint NOT NULL,
    err         bigint NOT NULL,
    delivered   bigint NOT NULL,
    at          bigint NOT NULL,
    hooked      bigint NOT NULL DEFAULT 0,
    account     bigint,
    inbound     bigint,
    PRIMARY KEY (connection, id)
);
-- Messages with ids below `upto` are purged: 1 their texts, 2 their records, 3 their keys.
CREATE TABLE retention (
    what        bigint PRIMARY KEY,
    upto        bigint NOT NULL
);
-- Rows that could not be read.
CREATE TABLE set_aside (
    id          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at          bigint NOT NULL,
    reason      text COLLATE "C" NOT NULL,
    carrier     bigint NOT NULL,
    account     bigint NOT NULL,
    message     bigint NOT NULL,
    no          bigint,
    state       bigint,
    doubts      bigint,
    resend      bigint,
    attempts    bigint,
    due_at      bigint,
    expires_at  bigint
);
-- The highest reserved step id.
CREATE TABLE step_counter (
    reserved    bigint NOT NULL
);
-- The unusual steps of a message.
CREATE TABLE timeline (
    rowid       bigint PRIMARY KEY,
    message     bigint NOT NULL,
    at          bigint NOT NULL,
    part        bigint NOT NULL,
    what        text COLLATE "C" NOT NULL,
    detail      text COLLATE "C" NOT NULL
);
-- Webhook events that wait, that have ended, and every attempt.
CREATE TABLE webhook (
    account     bigint NOT NULL,
    kind        bigint NOT NULL,
    id          bigint NOT NULL,
    due_at      bigint NOT NULL,
    failures    bigint NOT NULL,
    attempts    bigint NOT NULL,
    message     bigint NOT NULL,
    at          bigint NOT NULL,
    connection  bigint,
    told        bigint,
    err         bigint,
    form        bigint,
    inbound     bigint,
    PRIMARY KEY (account, kind, id)
);
CREATE TABLE webhook_counter (
    last        bigint NOT NULL
);
CREATE TABLE webhook_past (
    account     bigint NOT NULL,
    kind        bigint NOT NULL,
    id          bigint NOT NULL,
    state       bigint NOT NULL,
    ended_at    bigint NOT NULL,
    attempts    bigint NOT NULL,
    message     bigint NOT NULL,
    at          bigint NOT NULL,
    connection  bigint,
    told        bigint,
    err         bigint,
    form        bigint,
    inbound     bigint,
    PRIMARY KEY (account, kind, id)
);
-- The store's id, which node may write (by its epoch), and the number of its commits.
CREATE TABLE writer (
    shard       bigint PRIMARY KEY DEFAULT 0,
    store       bytea NOT NULL,
    epoch       bigint NOT NULL,
    commits     bigint NOT NULL,
    catalogue   bigint NOT NULL DEFAULT 0,
    node        bigint NOT NULL DEFAULT 0,
    node_epoch  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- The nodes. Each renews its lease on the clock of this server; the epoch is raised with each start, and by another node that
-- found the lease expired.
CREATE TABLE node (
    id          bigint PRIMARY KEY,
    name        text COLLATE "C" NOT NULL UNIQUE,
    epoch       bigint NOT NULL,
    instance    bytea NOT NULL,
    address     text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    lease_until bigint NOT NULL,
    notice      bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
-- Which node has each link to a carrier, so that a carrier never has more binds than it allows.
CREATE TABLE link_slot (
    carrier     bigint NOT NULL,
    number      bigint NOT NULL,
    node        bigint NOT NULL,
    node_epoch  bigint NOT NULL,
    PRIMARY KEY (carrier, number)
);
-- Which node has each bind of a connection, so that its customer has no more binds on all nodes than it may.
CREATE TABLE bind_slot (
    connection  bigint NOT NULL,
    number      bigint NOT NULL,
    node        bigint NOT NULL,
    node_epoch  bigint NOT NULL,
    PRIMARY KEY (connection, number)
);
-- The last operation of each node that was run, so that none is run twice. Not in `node`, whose rows must never be locked by a
-- batch.
CREATE TABLE applied (
    node        bigint PRIMARY KEY,
    epoch       bigint NOT NULL,
    number      bigint NOT NULL
) WITH (fillfactor = 50);
-- Outcomes of the operations of each node, until the node has them: the answers may be lost with the node that runs the engine.
-- One row per batch; `last` is the last operation of the node in it.
CREATE TABLE outcome (
    node        bigint NOT NULL,
    epoch       bigint NOT NULL,
    last        bigint NOT NULL,
    outcomes    bytea NOT NULL,
    PRIMARY KEY (node, epoch, last)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
INSERT INTO writer (store, epoch, commits)
    VALUES (decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), 0, 0);
INSERT INTO retention (what, upto) VALUES (1, 0), (2, 0), (3, 0);
INSERT INTO step_counter (reserved) VALUES (0);
INSERT INTO webhook_counter (last) VALUES (0);


CREATE VIEW open_part AS
    SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at FROM part
    UNION ALL
    SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at FROM late_part;

-- Messages with their texts. A text whose retention has ended is hidden, also while its partition is still there.
CREATE VIEW message_with_text AS
    SELECT m.*, t.text, t.tlvs, t.shape FROM message m
    LEFT JOIN message_text t ON t.id = m.id AND t.id >= (SELECT upto FROM retention WHERE what = 1);
CREATE INDEX inbound_group_oldest ON inbound_group (carrier, since);
CREATE INDEX inbound_group_since ON inbound_group (since);
CREATE INDEX inbound_seen_until ON inbound_seen (until);
CREATE INDEX late_part_expiry ON late_part (carrier, expires_at, account, message, no) WHERE state IN (3, 4, 5);
-- Without `state`, which changes several times: an update of a column that no index has needs no change of any index.
CREATE INDEX part_due ON part (carrier, account, due_at, message, no) WHERE due_at > 0;
CREATE INDEX set_aside_message ON set_aside (message);
CREATE INDEX timeline_message ON timeline (message);
CREATE INDEX webhook_due ON webhook (account, kind, due_at, id);
CREATE INDEX webhook_failed ON webhook_past (account, kind, id) WHERE state > 1;

-- The fingerprint of the pepper that the secrets in the catalogue depend on: no row or one.
CREATE TABLE pepper_fingerprint (
    id          bigint PRIMARY KEY CHECK (id = 1),
    fingerprint bytea NOT NULL
);
