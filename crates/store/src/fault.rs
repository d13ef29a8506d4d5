//! How the store says that its surroundings failed. Each means the operation was certainly not
//! done: an outcome that cannot be known ends the process instead.

use hermod_engine::ops::{CatalogueRefusal, PostRefusal};
use hermod_engine::tables::TableError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    #[error("the store's queue is full ({0} operations waiting)")]
    QueueFull(usize),
    #[error("the store did not come to it in time; it was given up and not done")]
    Waited,
    #[error("nothing was changed, because a ledger entry was refused: {0}")]
    EntryRefused(PostRefusal),
    #[error("nothing was changed: another {kind} is named {name:?}; choose another name")]
    NameTaken { kind: String, name: String },
    #[error("the disk is nearly full; nothing is accepted until space returns")]
    DiskLow,
    #[error("the store is shutting down")]
    Closed,
    #[error("the read took longer than 5 seconds and was ended; ask for less at a time")]
    ReadTooLong,
    #[error("another copy of the database is being made; try again when it has ended")]
    CopyUnderWay,
    #[error(
        "{folder} has too little room for a copy: {needed} bytes are needed, {free} are free; name a folder on another disk"
    )]
    NoRoomForCopy { folder: PathBuf, needed: u64, free: u64 },
    #[error("the store refused: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("the data makes no sense: {0}")]
    Damaged(String),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0} is in use by another hermod process; stop that one first, or use another data folder")]
    InUse(PathBuf),
    #[error(
        "{path} was written by a newer release (schema {found}, this one knows {known}); use that release"
    )]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path} was written by an older release (schema {found}, this one needs {known}); start the gateway once to bring it up to date"
    )]
    TooOld { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the database knows of {found} commits, but {told} were acknowledged: its log is damaged or missing, or it was replaced by an older copy; restore a backup, or delete {path} to go on with what is there"
    )]
    Behind { path: PathBuf, told: u64, found: u64 },
}

impl From<TableError> for StoreFault {
    fn from(error: TableError) -> StoreFault {
        let error = match error.into_inner().downcast::<rusqlite::Error>() {
            Ok(sql) => return StoreFault::Sql(*sql),
            Err(error) => error,
        };
        match error.downcast::<StoreFault>() {
            Ok(fault) => *fault,
            Err(error) => StoreFault::Damaged(error.to_string()),
        }
    }
}

impl From<CatalogueRefusal> for StoreFault {
    fn from(refusal: CatalogueRefusal) -> StoreFault {
        match refusal {
            CatalogueRefusal::Entry(refusal) => StoreFault::EntryRefused(refusal),
            CatalogueRefusal::NameTaken { kind, name } => StoreFault::NameTaken { kind, name },
        }
    }
}

/// The exit code after the disk failed (sysexits.h: EX_IOERR).
const EXIT_DISK_FAILED: i32 = 74;

impl StoreFault {
    pub(crate) fn damaged(what: impl std::fmt::Display) -> StoreFault {
        StoreFault::Damaged(what.to_string())
    }

    /// The disk failed under us. Nobody may be told anything any more; the log on the disk decides at the next start.
    pub(crate) fn die(&self) -> ! {
        tracing::error!(fault = %self, "The store's disk failed; stopping at once so that nothing is acknowledged that is not stored");
        std::process::exit(EXIT_DISK_FAILED)
    }

    /// The disk is full: nothing was written, and the same operation may succeed later.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, StoreFault::Sql(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::DiskFull)
    }

    /// What is stored makes no sense. Reading it again comes to the same, unlike after any other fault.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::Error;
        match self {
            StoreFault::Damaged(_) => true,
            StoreFault::Sql(error) => matches!(
                error,
                Error::FromSqlConversionFailure(..)
                    | Error::IntegralValueOutOfRange(..)
                    | Error::InvalidColumnType(..)
                    | Error::Utf8Error(..)
            ),
            _ => false,
        }
    }

    /// A read that was ended because it took too long is told as such.
    pub(crate) fn or_too_long(self) -> StoreFault {
        match self {
            StoreFault::Sql(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
            {
                StoreFault::ReadTooLong
            }
            fault => fault,
        }
    }

    /// The disk itself failed (a failed fsync above all). What is on it now cannot be known from here: a second fsync
    /// may report success for data the first one lost. The process must end and recover from the log.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, StoreFault::Sql(rusqlite::Error::SqliteFailure(error, _))
            if matches!(error.code, rusqlite::ErrorCode::SystemIoFailure
                | rusqlite::ErrorCode::DatabaseCorrupt
                | rusqlite::ErrorCode::NotADatabase))
    }
}
