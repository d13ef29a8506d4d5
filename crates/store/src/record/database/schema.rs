//! The schema of the record, and how its file is opened. The record can always be made again from the store, so a file that
//! cannot be used is moved aside instead of migrated.

use crate::error::StoreError;
use crate::sql::errors::{FileFault, file_fault};
use crate::sql::{Connection, OptionalExtension};
use crate::sqlite::schema::{keep_plans, make_private, open};
use hermod_engine::tables::TableError;
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The name of the file.
pub(crate) const FILE_NAME: &str = "record.db";
/// The end of the name of a file that cannot be used.
const UNUSABLE: &str = "unusable";
/// Files that are kept beside the record. The next one replaces the last of them, so that a disk that damages the record again and
/// again is not filled with it; the first ones are kept.
const UNUSABLE_MAX: u32 = 3;
/// Raised with each change of the schema, or of what is encoded in its columns.
pub(crate) const VERSION: i64 = 3;
/// Messages of one chunk of keys: keys are added within a few hundred pages, whatever their values are.
pub(crate) const MESSAGES_PER_CHUNK: u64 = 65_536;

/// `message.steps`: a version octet and the encoded steps. `statistic`: minutes since 1970 in `start`, whatever the
/// resolution; scope 0 is all accounts.
const TABLES: &str = "
CREATE TABLE message (
    id            INTEGER PRIMARY KEY,
    account       INTEGER NOT NULL,
    connection    INTEGER NOT NULL,
    carrier       INTEGER NOT NULL,
    first_carrier INTEGER, -- if it is another
    sender        TEXT    NOT NULL,
    recipient     INTEGER NOT NULL,
    encoding      INTEGER NOT NULL,
    parts         INTEGER NOT NULL,
    charged_parts INTEGER NOT NULL,
    cost          INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    code          INTEGER, -- this and the next four: null until it has ended
    err           INTEGER,
    settled_ms    INTEGER, -- after its acceptance
    refund        INTEGER,
    balance       INTEGER,
    request       TEXT,
    route         INTEGER,
    choice        INTEGER,
    carrier_cost  INTEGER, -- this and the next two: as in the store
    cost_terms    INTEGER,
    billable      INTEGER,
    earlier_costs BLOB, -- what earlier carriers can bill; mostly null
    compared      BLOB, -- the encoded carriers of a route that looks at costs
    steps         BLOB    NOT NULL
) STRICT;
CREATE INDEX message_open ON message (id) WHERE settled_ms IS NULL;
CREATE TABLE by_account (
    account       INTEGER NOT NULL,
    id            INTEGER NOT NULL,
    PRIMARY KEY (account, id)
) WITHOUT ROWID, STRICT;
CREATE TABLE key (
    kind          INTEGER NOT NULL,
    chunk         INTEGER NOT NULL,
    key           INTEGER NOT NULL,
    message       INTEGER NOT NULL,
    PRIMARY KEY (kind, chunk, key, message)
) WITHOUT ROWID, STRICT;
-- The lowest and the highest message of each chunk of keys.
CREATE TABLE chunk (
    no            INTEGER PRIMARY KEY,
    first         INTEGER NOT NULL,
    last          INTEGER NOT NULL
) STRICT;
CREATE TABLE statistic (
    resolution    INTEGER NOT NULL, -- 0 minute, 1 hour, 2 day
    scope         INTEGER NOT NULL,
    dimension     INTEGER NOT NULL,
    start         INTEGER NOT NULL,
    value         ANY     NOT NULL, -- '' for none
    figures       BLOB    NOT NULL,
    PRIMARY KEY (resolution, scope, dimension, start, value)
) WITHOUT ROWID, STRICT;
CREATE INDEX statistic_by_value ON statistic (dimension, value, scope, start) WHERE resolution = 1;
-- What was counted since the last time that it was added to `statistic`.
CREATE TABLE tail (
    no            INTEGER PRIMARY KEY,
    counts        BLOB    NOT NULL
) STRICT;
CREATE TABLE request (
    no            INTEGER PRIMARY KEY,
    at            INTEGER NOT NULL,
    account       INTEGER,
    connection    INTEGER,
    kind          INTEGER NOT NULL,
    operation     TEXT    NOT NULL,
    who           TEXT    NOT NULL,
    address       TEXT,
    status        INTEGER NOT NULL,
    code          TEXT,
    reason        TEXT    NOT NULL,
    took_ms       INTEGER NOT NULL,
    request       TEXT,
    replay        INTEGER NOT NULL,
    message       INTEGER,
    recipient     INTEGER -- the beginning of its keyed digest
) STRICT;
CREATE INDEX request_by_account ON request (account, no);
CREATE INDEX request_by_code ON request (code, no) WHERE code IS NOT NULL;
CREATE INDEX request_by_account_and_code ON request (account, code, no) WHERE code IS NOT NULL;
CREATE INDEX request_by_recipient ON request (recipient, no) WHERE recipient IS NOT NULL;
-- One row: the store that it belongs to, the last batch that it has, the messages ever added, and how far it has caught up.
CREATE TABLE position (
    store         BLOB    NOT NULL,
    sequence      INTEGER NOT NULL,
    messages      INTEGER NOT NULL,
    walk_next     INTEGER,
    walk_end      INTEGER,
    recheck_next  INTEGER,
    recheck_end   INTEGER
) STRICT;
";

/// Opens the record for the follower. Creates it if it does not exist. A file that cannot be opened, is damaged, has another
/// schema, or belongs to another history or to a later state of this one is moved aside, whatever it is. `sequence`: the last
/// batch of the store. Fails if the cause is not the file: the disk is full or fails, another process has the file locked, the process
/// has too many open files or too little memory, or the folder cannot be changed. Returns whether a file was moved aside.
pub(crate) fn open_for_writing(
    folder: &Path,
    store: [u8; 16],
    sequence: u64,
) -> Result<(Connection, bool), TableError> {
    match try_open(folder, store, sequence) {
        Ok(Opened::Usable(connection)) => return Ok((connection, false)),
        Ok(Opened::Unusable(reason)) => set_aside(folder, reason)?,
        Err(error) if is_unusable(folder, &error) => {
            set_aside(folder, &StoreError::from(error).to_string())?;
        }
        Err(error) => return Err(error),
    }
    match try_open(folder, store, sequence)? {
        Opened::Usable(connection) => Ok((connection, true)),
        Opened::Unusable(reason) => Err(StoreError::damaged(reason).into()),
    }
}

/// Whether a file of the record is the cause of an error, so that opening it again would fail again.
fn is_unusable(folder: &Path, error: &TableError) -> bool {
    if let Some(StoreError::File { error, .. }) = error.downcast_ref() {
        return may_not_be_opened(error);
    }
    match file_fault(error) {
        FileFault::Unusable => true,
        FileFault::None => false,
        FileFault::NotOpened => files(&folder.join(FILE_NAME)).iter().any(|file| {
            let opened = OpenOptions::new().read(true).write(true).open(file);
            opened.is_err_and(|error| may_not_be_opened(&error))
        }),
    }
}

/// Whether a file can never be opened: it is a folder, or belongs to another user.
fn may_not_be_opened(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::ACCESS | Errno::PERM | Errno::ISDIR | Errno::LOOP | Errno::NXIO)
    )
}

enum Opened {
    Usable(Connection),
    Unusable(&'static str),
}

fn try_open(folder: &Path, store: [u8; 16], sequence: u64) -> Result<Opened, TableError> {
    let path = folder.join(FILE_NAME);
    make_private(&path)?;
    let connection = open(&path)?;
    // The follower makes checkpoints itself.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
         PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST;",
    )?;
    connection.sqlite().set_prepared_statement_cache_capacity(64);
    keep_plans(&connection)?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        let create = connection.transaction()?;
        create.execute_batch(TABLES)?;
        create.execute(
            "INSERT INTO position (store, sequence, messages, walk_next) VALUES (?1, 0, 0, 0)",
            [&store[..]],
        )?;
        create.sqlite().pragma_update(None, "user_version", VERSION)?;
        create.commit()?;
        return Ok(Opened::Usable(connection));
    }
    if read_version(&connection)? != VERSION {
        return Ok(Opened::Unusable("another release wrote it"));
    }
    let read = |row: &crate::sql::Row<'_>| Ok((row.get::<Vec<u8>>(0)?, row.get::<i64>(1)?));
    let position = connection.query_row("SELECT store, sequence FROM position", [], read).optional()?;
    Ok(match position {
        Some((own, _)) if own != store => Opened::Unusable("it belongs to another history"),
        Some((_, own)) if own.cast_unsigned() > sequence => {
            Opened::Unusable("it belongs to a later state of the store")
        }
        Some(_) => Opened::Usable(connection),
        None => Opened::Unusable("it is damaged"),
    })
}

fn read_version(connection: &Connection) -> Result<i64, TableError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Moves the file aside, with its log. The first ones that were moved aside are kept, and the last of [`UNUSABLE_MAX`] is replaced.
/// A folder with the name of the record is moved aside too, and never replaced.
pub(crate) fn set_aside(folder: &Path, reason: &str) -> Result<(), StoreError> {
    let path = folder.join(FILE_NAME);
    let name = |number: u32| match number {
        1 => folder.join(format!("{FILE_NAME}.{UNUSABLE}")),
        later => folder.join(format!("{FILE_NAME}.{UNUSABLE}-{later}")),
    };
    let is_replaceable = |number: u32| number >= UNUSABLE_MAX && !path.is_dir() && !name(number).is_dir();
    let is_free = |number: &u32| name(*number).symlink_metadata().is_err() || is_replaceable(*number);
    let aside = (1..).find(is_free).map(name).expect("a free name");
    tracing::warn!(file = %path.display(), moved_to = %aside.display(), reason, "The record cannot be used and is made again from the store");
    for (file, aside) in files(&path).into_iter().zip(files(&aside)) {
        match std::fs::rename(&file, &aside) {
            Err(error) if error.kind() == ErrorKind::NotFound => remove_if_there(&aside)?,
            Err(error) => return Err(StoreError::File { path: file, error }),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Deletes the record of a folder. No connection may have it open.
pub(crate) fn delete(folder: &Path) -> Result<(), StoreError> {
    files(&folder.join(FILE_NAME)).iter().try_for_each(|file| remove_if_there(file))
}

/// Returns the file, its log and the index of the log.
fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::File { path: path.to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// Deletes the records that were moved aside.
pub(crate) fn delete_unusable(folder: &Path) -> Result<(), StoreError> {
    let found =
        std::fs::read_dir(folder).map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
    let aside = format!("{FILE_NAME}.{UNUSABLE}");
    let is_aside = |path: &PathBuf| {
        // A folder is not a record of ours.
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&aside)) && !path.is_dir()
    };
    found.flatten().map(|file| file.path()).filter(is_aside).try_for_each(|file| remove_if_there(&file))
}

/// Opens the record of a store that does not keep one now; none if there is no file. One of another release is deleted.
pub(super) fn open_unused(folder: &Path) -> Result<Option<Connection>, TableError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        return Ok(None);
    }
    let connection = open(&path)?;
    if read_version(&connection)? != VERSION {
        // It is of no use any more.
        drop(connection);
        delete(folder)?;
        return Ok(None);
    }
    connection.execute_batch("PRAGMA secure_delete = ON")?;
    Ok(Some(connection))
}

/// Opens the record for reads only.
pub(crate) fn open_for_reading(folder: &Path) -> Result<Connection, TableError> {
    let connection = open(&folder.join(FILE_NAME))?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -16384;")?;
    keep_plans(&connection)?;
    Ok(connection)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
