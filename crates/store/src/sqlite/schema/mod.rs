//! Tables and how they came to be. Migrations run forward only, each in one transaction with its version number; a
//! released one is never edited.
//!
//! Idempotency keys and carrier ids stand in one table per day (`key_20771`, `remote_20771`), made when the day
//! begins and dropped whole: a random index that grows for a year would slow every insert down.

mod carrier_ids;
mod deferred;
mod inbound;
mod key_buckets;
mod key_filters;
mod late_parts;
mod provisioned;
mod retention;
mod set_aside;
mod unnamed;
mod webhooks;

use crate::fault::StoreFault;
use hermod_engine::tables::TableError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::cmp::Ordering;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One file holds everything.
pub(crate) const FILE_NAME: &str = "hermod.db";
/// How long to wait for another process that has the file for a moment.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(5);

const MIGRATIONS: &[Migration] = &[
    Migration::Sql(SPINE),
    Migration::Sql(BILLING_AND_POLICY),
    Migration::Code(carrier_ids::migrate),
    Migration::Sql(REPORTS),
    Migration::Sql(webhooks::TABLES),
    Migration::Sql(retention::RETENTION),
    Migration::Sql(inbound::TABLES),
    Migration::Sql(unnamed::TABLE),
    Migration::Sql(provisioned::TABLE),
    Migration::Sql(key_filters::PARTS),
    Migration::Sql(deferred::INDEX),
    Migration::Sql(set_aside::TABLE),
    Migration::Sql(late_parts::TABLE),
    Migration::Code(key_buckets::migrate),
];

/// One step from a schema to the next.
enum Migration {
    Sql(&'static str),
    /// Where SQL alone cannot say it.
    Code(fn(&Connection) -> Result<(), TableError>),
}

const SPINE: &str = "
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

const BILLING_AND_POLICY: &str = "
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

const REPORTS: &str = "
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

/// Opens the file for the writer: made if need be, brought up to the newest schema, and set up to be durable.
pub(crate) fn open_for_writing(folder: &Path) -> Result<Connection, TableError> {
    let path = folder.join(FILE_NAME);
    make_private(&path)?;
    let mut connection = Connection::open(&path)?;
    connection.execute_batch(
        // FULL: every commit is on the disk before it is reported. The checkpointer moves the log into the file.
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
         PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;",
    )?;
    keep_plans(&connection)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(128);
    migrate(&mut connection, &path)?;
    Ok(connection)
}

/// The write-ahead log, beside the database.
pub(crate) fn log_file(folder: &Path) -> PathBuf {
    folder.join(format!("{FILE_NAME}-wal"))
}

/// An empty file that only its owner may read, unless it is there: messages will stand in it. The database's log and
/// index take after it.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreFault> {
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| StoreFault::File { path: path.to_owned(), error })
}

pub(crate) fn open_for_reading(folder: &Path) -> Result<Connection, TableError> {
    let connection = Connection::open(folder.join(FILE_NAME))?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -4096;")?;
    keep_plans(&connection)?;
    connection.busy_timeout(BUSY_WAIT)?;
    Ok(connection)
}

/// A statement is planned once, not again for every value that is bound to it: that was a quarter of the writer's time.
fn keep_plans(connection: &Connection) -> Result<(), TableError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), TableError> {
    let (found, known) = versions(connection)?;
    if found > known {
        return Err(StoreFault::TooNew { path: path.to_owned(), found, known }.into());
    }
    for (number, migration) in (1..).zip(MIGRATIONS).skip_while(|(number, _)| *number <= found) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match migration {
            Migration::Sql(sql) => transaction.execute_batch(sql)?,
            Migration::Code(migrate) => migrate(&transaction)?,
        }
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// The schema the file has, and the newest this release knows.
fn versions(connection: &Connection) -> Result<(i64, i64), TableError> {
    let known = i64::try_from(MIGRATIONS.len()).expect("a handful of migrations");
    Ok((connection.query_row("PRAGMA user_version", [], |row| row.get(0))?, known))
}

/// The days for which a table of this kind exists (`key` or `remote`), oldest first.
pub(crate) fn bucket_days(connection: &Connection, kind: &str) -> Result<Vec<i64>, TableError> {
    let mut statement =
        connection.prepare_cached("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?1")?;
    let names = statement.query_map([format!("{kind}_[0-9]*")], |row| row.get::<_, String>(0))?;
    let mut days = Vec::new();
    for name in names {
        if let Some(day) = name?.strip_prefix(kind).and_then(|rest| rest.strip_prefix('_')?.parse().ok()) {
            days.push(day);
        }
    }
    days.sort_unstable();
    Ok(days)
}

/// Opens a store that must be there already, for the commands that look at one from outside.
pub(crate) fn open_existing(folder: &Path) -> Result<Connection, TableError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no Hermod store here");
        return Err(StoreFault::File { path, error }.into());
    }
    let connection = Connection::open(&path)?;
    connection.busy_timeout(BUSY_WAIT)?;
    // Only looked at, never migrated: its gateway may be running.
    let (found, known) = versions(&connection)?;
    match found.cmp(&known) {
        Ordering::Equal => Ok(connection),
        Ordering::Greater => Err(StoreFault::TooNew { path, found, known }.into()),
        Ordering::Less => Err(StoreFault::TooOld { path, found, known }.into()),
    }
}
