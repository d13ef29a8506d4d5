//! The schema and its migrations. Migrations run forward only, each in one transaction together with the schema version. The
//! statements of a released migration are never changed.

use crate::data_folder::lock;
use crate::error::StoreError;
use crate::journal::{HistoryId, Position};
use crate::sql::{Connection, copy_progress, errors, params};
use crate::table_sql;
use hermod_engine::tables::{CHANGES_FINGERPRINT, TableError, fingerprint};
use rusqlite::config::DbConfig;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// The name of the database file.
pub(crate) const FILE_NAME: &str = "hermod.db";
/// How long to wait while another process has the file locked.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Every migration, in order; the schema version is the number of those applied. Until the first release the first one follows
/// the description of the tables; a release keeps its text.
static MIGRATIONS: LazyLock<[String; 1]> =
    LazyLock::new(|| [include_str!("tables.sql").to_owned() + &table_sql::create_in_sqlite()]);

/// Marks a file as a store with these tables and this encoding of changes: builds before the first release had others. A release
/// keeps its number.
static APPLICATION_ID: LazyLock<i32> =
    LazyLock::new(|| fingerprint(CHANGES_FINGERPRINT, &MIGRATIONS[0]).cast_signed());

/// Where the header of a SQLite file says whether the database uses a write-ahead log, and the value for one that does not.
const WRITE_VERSION_OFFSET: u64 = 18;
const WITHOUT_LOG: u8 = 1;

/// Opens the database for the writer: creates it if it does not exist, and migrates it to the newest schema. Every commit is
/// synced until [`let_journal_sync`]. Fails with [`StoreError::TooNew`] if a newer release wrote it, with
/// [`StoreError::BeforeFirstRelease`] if an earlier build did, and with [`StoreError::InUse`] if another process reads a closed
/// database for longer than [`BUSY_WAIT`]; it changes nothing then.
pub(crate) fn open_for_writing(folder: &Path) -> Result<Connection, TableError> {
    let path = folder.join(FILE_NAME);
    check_log(folder)?;
    make_private(&path)?;
    let connection = open(&path)?;
    check_version(&connection, &path, &*MIGRATIONS)?;
    check_no_unfinished_copy(&connection, folder)?;
    // EXTRA: the header says durably that there is a log before the log has anything.
    let with_log = connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA journal_mode = WAL;");
    with_log.map_err(|error| match errors::store_error(error) {
        error if error.is_busy() => StoreError::InUse(folder.to_owned()),
        error => error,
    })?;
    connection.execute_batch(
        // FULL: a commit returns after the fsync of the log. Checkpoints are made by `checkpoint.rs`.
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -65536;
         PRAGMA temp_store = MEMORY;",
    )?;
    keep_plans(&connection)?;
    connection.sqlite().set_prepared_statement_cache_capacity(128);
    migrate(&connection, &*MIGRATIONS)?;
    Ok(connection)
}

/// Makes commits return without a sync: the journal makes batches durable, and `checkpoint.rs` syncs the log. Keeps changed
/// pages in memory until the commit, so that a full disk cannot interrupt a batch.
pub(crate) fn let_journal_sync(connection: &Connection) -> Result<(), TableError> {
    Ok(connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA cache_spill = OFF;")?)
}

/// Returns where this database is: its history, which its journal has too, and the last batch that it has.
pub(crate) fn journal_position(connection: &Connection) -> Result<Position, TableError> {
    let read = |row: &crate::sql::Row<'_>| {
        let (history, last) = (HistoryId(row.get(0)?), row.get::<i64>(1)?.cast_unsigned());
        Ok(Position { history, last, checksum: row.get::<Option<u32>>(2)? })
    };
    Ok(connection.query_row("SELECT store, commits, checksum FROM writer", [], read)?)
}

/// Stores the number and the checksum of the last batch of the database.
pub(crate) fn put_last_batch(connection: &Connection, last: u64, checksum: u32) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE writer SET commits = ?1, checksum = ?2")?
        .execute(params![last.cast_signed(), checksum])?;
    Ok(())
}

/// Returns the path of the write-ahead log.
pub(crate) fn log_file(folder: &Path) -> PathBuf {
    folder.join(format!("{FILE_NAME}-wal"))
}

/// Creates the file, readable by its owner only, unless it exists. SQLite creates the log and its index with the same
/// permissions.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| StoreError::File { path: path.to_owned(), error })
}

/// Opens the database for reads only.
pub(crate) fn open_for_reading(folder: &Path) -> Result<Connection, TableError> {
    let connection = open(&folder.join(FILE_NAME))?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -4096;")?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// Opens the database for a short change beside the writer, which waits for it: what no batch has and no journal needs. The commit
/// is synced.
pub(crate) fn open_beside_writer(folder: &Path) -> Result<Connection, TableError> {
    let connection = open(&folder.join(FILE_NAME))?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")?;
    Ok(connection)
}

/// Opens a file, which SQLite creates if it does not exist.
pub(crate) fn open(path: &Path) -> Result<Connection, TableError> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(BUSY_WAIT)?;
    Ok(Connection::Sqlite(connection))
}

/// Opens the file of the database for reads, as it is without its log. Writes nothing.
pub(crate) fn open_without_log(folder: &Path) -> Result<Connection, TableError> {
    let path =
        folder.join(FILE_NAME).to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let file = format!("file:{path}?immutable=1");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::Sqlite(rusqlite::Connection::open_with_flags(file, flags)?))
}

/// Makes SQLite plan a statement once, instead of again for bound values. Planning took a quarter of the writer's time.
pub(crate) fn keep_plans(connection: &Connection) -> Result<(), TableError> {
    connection.sqlite().set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Applies the migrations that the database does not have.
fn migrate(connection: &Connection, migrations: &[impl AsRef<str>]) -> Result<(), TableError> {
    let found = schema_version(connection)?;
    for (number, sql) in (1..).zip(migrations).skip_while(|(number, _)| *number <= found) {
        let transaction = connection.immediate_transaction()?;
        transaction.execute_batch(sql.as_ref())?;
        transaction.sqlite().pragma_update(None, "application_id", *APPLICATION_ID)?;
        transaction.sqlite().pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Returns the schema version of the file and the newest that this release supports. Fails if the file has a newer one, was made
/// before the first release, or is no database; closing the connection changes nothing then.
fn check_version(
    connection: &Connection,
    path: &Path,
    migrations: &[impl AsRef<str>],
) -> Result<(i64, i64), TableError> {
    // The first read of the file: SQLite opens any file.
    let found = schema_version(connection).map_err(|error| StoreError::from(error).of_file(path))?;
    let known = i64::try_from(migrations.len())?;
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let refusal = if found != 0 && application != *APPLICATION_ID {
        StoreError::BeforeFirstRelease(path.to_owned())
    } else if found > known {
        StoreError::TooNew { path: path.to_owned(), found, known }
    } else {
        return Ok((found, known));
    };
    connection.sqlite().set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Err(refusal.into())
}

/// Returns the schema version of the file; 0 if it has no tables.
fn schema_version(connection: &Connection) -> Result<i64, TableError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Creates a database with the newest schema in a new file.
pub(crate) fn create(path: &Path) -> Result<Connection, TableError> {
    make_private(path)?;
    let connection = open(path)?;
    migrate(&connection, &*MIGRATIONS)?;
    Ok(connection)
}

/// Fails with [`StoreError::UnfinishedCopy`] if a store was copied to this folder only in part.
fn check_no_unfinished_copy(connection: &Connection, folder: &Path) -> Result<(), TableError> {
    if copy_progress::is_unfinished(connection)? {
        return Err(StoreError::UnfinishedCopy(folder.display().to_string()).into());
    }
    Ok(())
}

/// Opens an existing database without migrating it, for audits and backups. Fails if it does not exist, has another schema
/// version, or is a part of a store.
pub(crate) fn open_existing(folder: &Path) -> Result<Connection, TableError> {
    let connection = open_also_unfinished(folder)?;
    check_no_unfinished_copy(&connection, folder)?;
    Ok(connection)
}

/// Like [`open_existing`], also if a store was copied to this folder only in part.
pub(crate) fn open_also_unfinished(folder: &Path) -> Result<Connection, TableError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        let error =
            std::io::Error::new(std::io::ErrorKind::NotFound, "no Hermod database found in this folder");
        return Err(StoreError::File { path, error }.into());
    }
    if !lock::is_in_use(folder)? {
        check_log(folder)?;
    }
    let connection = open(&path)?;
    // Not migrated, because its gateway may be running.
    match check_version(&connection, &path, &*MIGRATIONS)? {
        (found, known) if found < known => Err(StoreError::TooOld { path, found, known }.into()),
        _ => Ok(connection),
    }
}

/// Makes the header of a closed database say that it has no write-ahead log, like that of a copy: a log that is beside it later
/// belongs to another database, and [`check_log`] finds it. The caller has the lock on the folder, and no batch is
/// written any more. Returns false and leaves the header as it is while a connection has the database open.
///
/// A crash at any line leaves the database with its log, or without one and with either header. The empty log is durable before
/// the header, which SQLite changes in a transaction: a power cut does not bring the log back beside the header of a closed
/// database.
pub(crate) fn close_log(folder: &Path) -> Result<bool, TableError> {
    let connection = open(&folder.join(FILE_NAME))?;
    // A reader is not waited for.
    connection.sqlite().busy_timeout(Duration::ZERO)?;
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        return Ok(false);
    }
    let path = log_file(folder);
    match File::open(&path).and_then(|log| log.sync_all()) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(StoreError::File { path, error }.into());
        }
        _ => {}
    }
    connection.execute_batch("PRAGMA synchronous = EXTRA")?;
    let mode = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<String>(0));
    match mode.map_err(errors::store_error) {
        Err(error) if error.is_busy() => Ok(false),
        mode => Ok(mode? == "delete"),
    }
}

/// Fails with [`StoreError::OtherLog`] if the folder has a database without a log beside a write-ahead log: SQLite would apply the
/// log, which belongs to another database. A copy has no log until it is first opened for writing, and a database that was closed
/// in an orderly way until it is opened again.
fn check_log(folder: &Path) -> Result<(), StoreError> {
    let path = log_file(folder);
    if !std::fs::metadata(&path).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let mut version = [0];
    let database = folder.join(FILE_NAME);
    let read = File::open(&database).and_then(|file| file.read_exact_at(&mut version, WRITE_VERSION_OFFSET));
    match read {
        Ok(()) if version == [WITHOUT_LOG] => Err(StoreError::OtherLog { path }),
        // A file that is too short is not a database yet.
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
            Err(StoreError::File { path: database, error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
