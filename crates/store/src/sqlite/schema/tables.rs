//! Migrations that are SQL alone, in the order of their numbers. Released ones are never edited.

pub(super) const SPINE: &str = "
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
";

pub(super) const BILLING_AND_POLICY: &str = "
ALTER TABLE ledger ADD COLUMN reference TEXT;
CREATE UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL;
-- Statements go by time, which is not always the order of writing.
CREATE INDEX ledger_at ON ledger (account, at);

-- What each account had accepted on each UTC day (the day of the message's id). Refunds do not reduce it.
CREATE TABLE daily (
    account     INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    spend       INTEGER NOT NULL,
    PRIMARY KEY (account, day)
) WITHOUT ROWID, STRICT;
INSERT INTO daily (account, day, messages, spend)
    SELECT account, ((id >> 18) + 1735689600000) / 86400000, count(*), sum(cost) FROM message GROUP BY 1, 2;

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

-- The number and message id given last. It outlives the messages themselves.
CREATE TABLE inbound_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL,
    message     INTEGER NOT NULL
) STRICT;

-- AUTOINCREMENT: the number of a case that was forgotten is never given to another.
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
CREATE INDEX review_state ON review (state);
CREATE INDEX review_open ON review (account) WHERE state = 0;
";

pub(super) const REPORTS: &str = "
-- How a message differs from a plain text, and what its customer wants to hear about it. See blobs.rs.
ALTER TABLE message ADD COLUMN shape BLOB;
ALTER TABLE message ADD COLUMN origin BLOB;

-- Short names of messages, for binds whose ids must be short.
CREATE TABLE alias (
    account     INTEGER NOT NULL,
    alias       INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    PRIMARY KEY (account, alias)
) WITHOUT ROWID, STRICT;

-- The one given last: the next is sought from there on.
CREATE TABLE alias_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL
) STRICT;

-- What customers are still to be told. Keyed so that a connection's reports read in the order they came to be.
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

-- What they were not told after all. `status` is what their software refused it with; NULL: nobody took it in time.
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
CREATE INDEX given_up_account ON given_up (account, id);
";

/// How far purging has come, and the ledger's rows that stand for messages that are gone.
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

/// Parts that a carrier took without giving them a usable id.
pub(super) const UNNAMED_PARTS: &str = "
-- Their receipts can be matched only by the recipient's number and the time. A row goes when a receipt was matched to it.
CREATE TABLE unnamed (
    carrier     INTEGER NOT NULL,
    dest        INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (carrier, dest, message, part)
) WITHOUT ROWID, STRICT;
";

/// What provision files said when they were last applied.
///
/// One row per entry that a provision file mentioned or removed. The gateway compares the next file with it, so that only
/// what changed in the file is applied. Secrets stand in it in their stored form: sealed, or as a hash.
pub(super) const PROVISIONED: &str = "
CREATE TABLE provisioned (
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID, STRICT;
";

/// Filters of past days' idempotency keys, in parts, so that building one takes little memory however many keys a day has.
///
/// `upto` is the highest filter key that a part is about, as a signed number; -1 is the highest there is, and stands in a
/// day's last part. A filter of before is the only part of its day; one that is too short to be read is built again.
pub(super) const KEY_FILTER_PARTS: &str = "
ALTER TABLE key_filter RENAME TO key_filter_in_one;
CREATE TABLE key_filter (
    day         INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    upto        INTEGER NOT NULL,
    filter      BLOB    NOT NULL,
    PRIMARY KEY (day, part)
) STRICT;
INSERT INTO key_filter (day, part, upto, filter)
    SELECT day, 0, -1, filter FROM key_filter_in_one WHERE length(filter) > 20;
DROP TABLE key_filter_in_one;
";

/// The order in which parts that wait for a time come due.
///
/// Partial: only parts that are deferred cost a write. The condition is that of the queries, word for word,
/// and `state` stands in it so that they need not look at the rows.
pub(super) const DEFERRED_PARTS: &str = "
CREATE INDEX part_due ON part (carrier, account, due_at, message, no, state)
    WHERE due_at > 0 AND state IN (0, 2);
";

/// Rows that make no sense.
///
/// One row for each part that was taken out of the queues because its row, or its message's row, cannot be read: the
/// columns of `part` as they were. Or one for a message whose own row cannot be read; then the columns of a part are NULL.
pub(super) const SET_ASIDE: &str = "
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
";

/// The parts whose receipts are late.
///
/// Parts of messages that a carrier has taken whole and whose receipts have not come soon; among them those that were
/// reported UNKNOWN. They stand apart so that starts, rollbacks and sweeps need not pass over them. The index is partial:
/// a part that was reported UNKNOWN is waited for no more. Its condition is that of the queries, word for word.
pub(super) const LATE_PARTS: &str = "
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
";

/// What happened to messages beyond their ordinary course, where it decides what may happen to them later. Before, the lines
/// of the timeline decided: what they said is taken from there.
pub(super) const MESSAGE_EXCEPTIONS: &str = "
CREATE TABLE message_exception (
    message        INTEGER PRIMARY KEY,
    failed_over    INTEGER NOT NULL,
    unknown_at     INTEGER,
    late_receipts  INTEGER NOT NULL
) STRICT;
-- No carrier that refused a message gets it again.
CREATE TABLE carrier_refusal (
    message     INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    PRIMARY KEY (message, carrier)
) WITHOUT ROWID, STRICT;
INSERT INTO message_exception (message, failed_over, unknown_at, late_receipts)
    SELECT message, max(what = 'failed_over'), max(CASE what WHEN 'unknown' THEN at END),
           sum(what IN ('late_receipt', 'unknown_receipt'))
    FROM timeline WHERE what IN ('failed_over', 'unknown', 'late_receipt', 'unknown_receipt') GROUP BY message;
-- A line of a refusal begins with the carrier: 'carrier 12: status 0x45'.
INSERT INTO carrier_refusal (message, carrier)
    SELECT DISTINCT message, CAST(substr(detail, 9) AS INTEGER)
    FROM timeline WHERE what = 'refused' AND detail GLOB 'carrier [0-9]*: *';
";

/// Ids of steps are reserved, because most steps have no row. Up to here only lines of the timeline had ids.
pub(super) const STEP_IDS: &str = "
CREATE TABLE step_counter (
    reserved    INTEGER NOT NULL
) STRICT;
INSERT INTO step_counter (reserved) SELECT coalesce(max(rowid), 0) FROM timeline;
";
