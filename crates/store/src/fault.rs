//! How the store says that its surroundings failed. Each means the operation was certainly not
//! done: an outcome that cannot be known ends the process instead.

use hermod_engine::ops::{CatalogueRefusal, PostRefusal};
use hermod_engine::tables::TableError;
use rusqlite::ErrorCode;
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
    Backend(BackendFault),
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

/// An error of the database itself. It says what happened; only the store knows which database that is.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BackendFault(BackendError);

/// One variant per backend.
#[derive(Debug, thiserror::Error)]
enum BackendError {
    #[error(transparent)]
    Sqlite(rusqlite::Error),
}

impl BackendFault {
    fn is_disk_full(&self) -> bool {
        let BackendError::Sqlite(error) = &self.0;
        error.sqlite_error_code() == Some(ErrorCode::DiskFull)
    }

    fn is_interrupted(&self) -> bool {
        let BackendError::Sqlite(error) = &self.0;
        error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
    }

    fn is_fatal(&self) -> bool {
        let BackendError::Sqlite(error) = &self.0;
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        )
    }
}

impl From<TableError> for StoreFault {
    fn from(error: TableError) -> StoreFault {
        let error = match error.into_inner().downcast::<rusqlite::Error>() {
            Ok(error) => return StoreFault::sqlite(*error),
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

    /// An error of SQLite. No `From`: that would make SQLite a part of the store's public face.
    pub(crate) fn sqlite(error: rusqlite::Error) -> StoreFault {
        StoreFault::Backend(BackendFault(BackendError::Sqlite(error)))
    }

    /// The disk is full: nothing was written, and the same operation may succeed later.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, StoreFault::Backend(error) if error.is_disk_full())
    }

    /// A read that was ended because it took too long is told as such.
    pub(crate) fn or_too_long(self) -> StoreFault {
        match self {
            StoreFault::Backend(error) if error.is_interrupted() => StoreFault::ReadTooLong,
            fault => fault,
        }
    }

    /// The disk itself failed (a failed fsync above all). What is on it now cannot be known from here: a second fsync
    /// may report success for data the first one lost. The process must end and recover from the log.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, StoreFault::Backend(error) if error.is_fatal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn error_of_sqlite_keeps_its_text_and_says_what_the_writer_has_to_know() {
        for (code, full, fatal, interrupted) in [
            (ffi::SQLITE_FULL, true, false, false),
            (ffi::SQLITE_IOERR_FSYNC, false, true, false),
            (ffi::SQLITE_CORRUPT, false, true, false),
            (ffi::SQLITE_NOTADB, false, true, false),
            (ffi::SQLITE_INTERRUPT, false, false, true),
            (ffi::SQLITE_BUSY, false, false, false),
        ] {
            let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let fault = StoreFault::from(TableError::from(error()));
            assert_eq!(fault.to_string(), format!("the store refused: {}", error()));
            assert_eq!((fault.is_disk_full(), fault.is_fatal()), (full, fatal), "{fault}");
            assert_eq!(matches!(fault.or_too_long(), StoreFault::ReadTooLong), interrupted, "{code}");
        }
    }

    #[test]
    fn fault_that_passed_through_a_table_error_is_the_same_fault() {
        let fault = StoreFault::from(TableError::from(StoreFault::CopyUnderWay));
        assert!(matches!(fault, StoreFault::CopyUnderWay), "{fault}");
    }
}
