//! Migrations in SQL, in the order of their numbers. Their statements are never changed after a release.

/// Migration 1. Messages, parts, the ledger and the setup.
pub(super) const MESSAGES_AND_LEDGER: &str = "
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

-- The parts of messages that are not final. The key gives the order of a carrier's queue per account.
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

-- The unusual steps of a message: doubts, resends, temporary errors, late receipts.
CREATE TABLE timeline (
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    what        TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE INDEX timeline_message ON timeline (message);

-- Every change of a balance other than the charge of a message.
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

-- One row: the number of commits. See commit_mark.rs.
CREATE TABLE writer (
    commits     INTEGER NOT NULL
) STRICT;
INSERT INTO writer (commits) VALUES (0);

CREATE TABLE balance (
    account     INTEGER PRIMARY KEY,
    balance     INTEGER NOT NULL,
    credit_used INTEGER NOT NULL
) STRICT;

-- A filter over each past day's keys, held in memory, so that a new key needs no read of old ones.
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

/// Migration 2. Statements, daily totals, opt-outs, MO messages and reviews.
pub(super) const BILLING_AND_POLICY: &str = "
ALTER TABLE ledger ADD COLUMN reference TEXT;
CREATE UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL;
-- For statements: they are in order of time, which is not always the order of ids.
CREATE INDEX ledger_at ON ledger (account, at);

-- Messages and charges of each account per UTC day of acceptance. Refunds do not reduce them.
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

-- The last number and message id of each account. Kept when the messages are purged, so that none is used twice.
CREATE TABLE inbound_counter (
    account     INTEGER PRIMARY KEY,
    last        INTEGER NOT NULL,
    message     INTEGER NOT NULL
) STRICT;

-- AUTOINCREMENT: the id of a deleted case is never reused.
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

/// Migration 4. Reports to SMPP customers.
pub(super) const REPORTS: &str = "
-- `shape`: what differs from a plain text. `origin`: how it was submitted over SMPP, and which DLRs were requested. See blobs.rs.
ALTER TABLE message ADD COLUMN shape BLOB;
ALTER TABLE message ADD COLUMN origin BLOB;

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

-- Reports that wait for delivery. The key gives their order per connection.
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

-- Reports that were given up. `status` is the customer's error status; NULL: no bind took the report in time.
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

/// Migration 6. How far purging has come, and the ledger entries that replace purged messages.
pub(super) const RETENTION: &str = "
-- Messages with ids below `upto` are purged: 1 their texts, 2 their records.
CREATE TABLE retention (
    what        INTEGER PRIMARY KEY,
    upto        INTEGER NOT NULL
) STRICT;
INSERT INTO retention (what, upto) VALUES (1, 0), (2, 0);

-- One entry per account and day for the costs (6), and one for the refunds (7), of purged messages.
CREATE UNIQUE INDEX ledger_rolled_up ON ledger (account, at, kind) WHERE kind IN (6, 7);
";

/// Migration 8. Parts that a carrier accepted without a usable id.
pub(super) const UNNAMED_PARTS: &str = "
-- Their receipts can be matched only by recipient and time. A row is deleted when a receipt was matched to it.
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

/// Migration 9. The entries of provision files as they were last applied.
///
/// One row per entry that a provision file mentioned or removed. The gateway compares the next file with it, and applies only
/// what changed in the file. Secrets are in their stored form: sealed or hashed.
pub(super) const PROVISIONED: &str = "
CREATE TABLE provisioned (
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID, STRICT;
";

/// Migration 10. Filters of past days' idempotency keys in several parts, so that building one takes little memory.
///
/// `upto` is the highest filter key of a part as a signed number; -1, the highest as unsigned, marks the last part of a day. An
/// existing filter becomes the only part of its day; one that is too short is dropped and built again. Replaced by migration
/// 14.
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

/// Migration 11. An index of deferred parts by due time.
///
/// It is partial, so that only deferred parts cost a write. SQLite uses it only for queries with the same condition. `state` is
/// in it so that those queries need not read the rows.
pub(super) const DEFERRED_PARTS: &str = "
CREATE INDEX part_due ON part (carrier, account, due_at, message, no, state)
    WHERE due_at > 0 AND state IN (0, 2);
";

/// Migration 12. Unreadable rows that were set aside.
///
/// One row for each part that was removed from the queues because its row, or that of its message, is unreadable, with the
/// columns of `part` as they were; or one for a message whose own row is unreadable, with NULL in the columns of a part.
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

/// Migration 13. Late parts.
///
/// Parts of messages that a carrier has accepted completely and whose receipts have not come soon, including those reported
/// UNKNOWN. They have their own table so that starts, rollbacks and sweeps need not read them. The index is partial: a part
/// that was reported UNKNOWN no longer expires. SQLite uses it only for queries with the same condition.
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

/// Migration 15. Exceptional facts about messages that later decisions need. They are taken from the timeline, which decisions
/// read before.
pub(super) const MESSAGE_EXCEPTIONS: &str = "
CREATE TABLE message_exception (
    message        INTEGER PRIMARY KEY,
    failed_over    INTEGER NOT NULL,
    unknown_at     INTEGER,
    late_receipts  INTEGER NOT NULL
) STRICT;
-- A carrier that rejected a message does not get it again.
CREATE TABLE carrier_refusal (
    message     INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    PRIMARY KEY (message, carrier)
) WITHOUT ROWID, STRICT;
INSERT INTO message_exception (message, failed_over, unknown_at, late_receipts)
    SELECT message, max(what = 'failed_over'), max(CASE what WHEN 'unknown' THEN at END),
           sum(what IN ('late_receipt', 'unknown_receipt'))
    FROM timeline WHERE what IN ('failed_over', 'unknown', 'late_receipt', 'unknown_receipt') GROUP BY message;
-- A line about a rejection begins with the carrier: 'carrier 12: status 0x45'.
INSERT INTO carrier_refusal (message, carrier)
    SELECT DISTINCT message, CAST(substr(detail, 9) AS INTEGER)
    FROM timeline WHERE what = 'refused' AND detail GLOB 'carrier [0-9]*: *';
";

/// Migration 16. One row: the highest reserved step id. Ids are reserved in advance, because most steps have no row in the
/// timeline.
pub(super) const STEP_IDS: &str = "
CREATE TABLE step_counter (
    reserved    INTEGER NOT NULL
) STRICT;
INSERT INTO step_counter (reserved) SELECT coalesce(max(rowid), 0) FROM timeline;
";

/// Migration 18. The id of the database, which its journal has too. `commits` is the last batch of the journal that the database
/// has.
pub(super) const JOURNAL: &str = "
ALTER TABLE writer ADD COLUMN store BLOB NOT NULL DEFAULT x'';
UPDATE writer SET store = randomblob(16);
";

/// Migration 19. The audit log, and the tokens of users: sessions and one-time links, by the digest of the token.
pub(super) const USERS: &str = "
CREATE TABLE audit_log (
    number      INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    account     INTEGER,
    author      TEXT NOT NULL,
    origin      TEXT NOT NULL,
    action      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    detail      TEXT NOT NULL,
    hash        BLOB NOT NULL
) STRICT;
CREATE INDEX audit_log_account ON audit_log (account, number) WHERE account IS NOT NULL;
CREATE TABLE user_token (
    digest      BLOB PRIMARY KEY,
    user        INTEGER NOT NULL,
    purpose     INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    body        TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE INDEX user_token_user ON user_token (user);
CREATE INDEX user_token_expiry ON user_token (expires_at);
";

/// Migration 22. The checksum of the last batch, which its record in the journal has too, and whether the database is a copy that
/// was never started. `store` is the id of the history: a copy gets a new one when it is started.
pub(super) const HISTORY: &str = "
ALTER TABLE writer ADD COLUMN checksum INTEGER;
ALTER TABLE writer ADD COLUMN is_copy INTEGER NOT NULL DEFAULT 0;
";
