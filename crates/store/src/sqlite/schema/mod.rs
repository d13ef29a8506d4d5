//! Tables and how they came to be. Migrations run forward only, each in one transaction with its version number; a
//! released one is never edited.
//!
//! Idempotency keys and carrier ids stand in one table per day (`key_20771`, `remote_20771`), made when the day
//! begins and dropped whole: a random index that grows for a year would slow every insert down.

mod carrier_ids;
mod inbound;
mod key_buckets;
mod tables;
mod webhooks;

use crate::error::StoreError;
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
    Migration::Sql(tables::SPINE),
    Migration::Sql(tables::BILLING_AND_POLICY),
    Migration::Code(carrier_ids::migrate),
    Migration::Sql(tables::REPORTS),
    Migration::Sql(webhooks::TABLES),
    Migration::Sql(tables::RETENTION),
    Migration::Sql(inbound::TABLES),
    Migration::Sql(tables::UNNAMED_PARTS),
    Migration::Sql(tables::PROVISIONED),
    Migration::Sql(tables::KEY_FILTER_PARTS),
    Migration::Sql(tables::DEFERRED_PARTS),
    Migration::Sql(tables::SET_ASIDE),
    Migration::Sql(tables::LATE_PARTS),
    Migration::Code(key_buckets::migrate),
    Migration::Sql(tables::MESSAGE_EXCEPTIONS),
    Migration::Sql(tables::STEP_IDS),
    Migration::Sql(inbound::UNASSIGNED),
];

/// One step from a schema to the next.
enum Migration {
    Sql(&'static str),
    /// Where SQL alone cannot say it.
    Code(fn(&Connection) -> Result<(), TableError>),
}

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
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| StoreError::File { path: path.to_owned(), error })
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
        return Err(StoreError::TooNew { path: path.to_owned(), found, known }.into());
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

/// Opens a store that must be there already, for the commands that look at one from outside.
pub(crate) fn open_existing(folder: &Path) -> Result<Connection, TableError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no Hermod store here");
        return Err(StoreError::File { path, error }.into());
    }
    let connection = Connection::open(&path)?;
    connection.busy_timeout(BUSY_WAIT)?;
    // Only looked at, never migrated: its gateway may be running.
    let (found, known) = versions(&connection)?;
    match found.cmp(&known) {
        Ordering::Equal => Ok(connection),
        Ordering::Greater => Err(StoreError::TooNew { path, found, known }.into()),
        Ordering::Less => Err(StoreError::TooOld { path, found, known }.into()),
    }
}
