//! Converts errors of the databases to errors of the store.

use crate::error::{BackendError, BackendErrorKind, StoreError};
use crate::postgres::PostgresError;
use crate::sql::Error;
use hermod_engine::tables::TableError;
use rusqlite::{ErrorCode, ffi};

/// Returns the store's error for an error of a statement.
pub(crate) fn store_error(error: Error) -> StoreError {
    match error {
        Error::Sqlite(error) => StoreError::Backend(BackendError::new(kind_of(&error), error)),
        Error::Postgres(error) => error.into(),
    }
}

/// Returns the store's error if this is an error of a database, and the error itself otherwise.
pub(crate) fn from_database(
    error: Box<dyn std::error::Error + Send + Sync>,
) -> Result<StoreError, Box<dyn std::error::Error + Send + Sync>> {
    let error = match error.downcast::<Error>() {
        Ok(error) => return Ok(store_error(*error)),
        Err(error) => error,
    };
    let error = match error.downcast::<PostgresError>() {
        Ok(error) => return Ok((*error).into()),
        Err(error) => error,
    };
    error.downcast::<rusqlite::Error>().map(|error| store_error((*error).into()))
}

/// What an error says about the database file that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFault {
    /// It is damaged, belongs to another program or may not be written: opening it again fails again.
    Unusable,
    /// It could not be opened. The cause may be the file, or a lack of open files.
    NotOpened,
    /// The cause is not the file: a full or failing disk, another process, a lack of memory.
    None,
}

/// Returns what an error of SQLite says about the file.
pub(crate) fn file_fault(error: &TableError) -> FileFault {
    let error = match error.downcast_ref::<Error>() {
        Some(Error::Sqlite(error)) => error,
        Some(Error::Postgres(_)) => return FileFault::None,
        None => match error.downcast_ref::<rusqlite::Error>() {
            Some(error) => error,
            None => return FileFault::None,
        },
    };
    match error.sqlite_error_code() {
        // It has no such table or column, or other values in it.
        None | Some(ErrorCode::Unknown) => FileFault::Unusable,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FileFault::Unusable,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => FileFault::Unusable,
        Some(ErrorCode::CannotOpen) => FileFault::NotOpened,
        Some(_) => FileFault::None,
    }
}

fn kind_of(error: &rusqlite::Error) -> BackendErrorKind {
    match error.sqlite_error_code() {
        // No space for the index of the log.
        _ if error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE) => {
            BackendErrorKind::DiskFull
        }
        Some(ErrorCode::DiskFull) => BackendErrorKind::DiskFull,
        Some(ErrorCode::OperationInterrupted) => BackendErrorKind::Interrupted,
        Some(ErrorCode::SystemIoFailure) => BackendErrorKind::DiskFailed,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => BackendErrorKind::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => BackendErrorKind::FileDamaged,
        _ => BackendErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_error_keeps_its_text_and_its_kind() {
        for (code, full, fatal, interrupted) in [
            (ffi::SQLITE_FULL, true, false, false),
            (ffi::SQLITE_IOERR_SHMSIZE, true, false, false),
            (ffi::SQLITE_IOERR_FSYNC, false, true, false),
            (ffi::SQLITE_CORRUPT, false, true, false),
            (ffi::SQLITE_NOTADB, false, true, false),
            (ffi::SQLITE_INTERRUPT, false, false, true),
            (ffi::SQLITE_BUSY, false, false, false),
        ] {
            let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let stored = StoreError::from(TableError::from(error()));
            assert_eq!(stored.to_string(), format!("database error: {}", error()));
            assert_eq!((stored.is_disk_full(), stored.is_fatal()), (full, fatal), "{stored}");
            assert_eq!(matches!(stored.or_too_long(), StoreError::ReadTooLong), interrupted, "{code}");
        }
    }

    #[test]
    fn error_says_whether_the_file_is_its_cause() {
        for (code, expected) in [
            (ffi::SQLITE_CORRUPT, FileFault::Unusable),
            (ffi::SQLITE_NOTADB, FileFault::Unusable),
            (ffi::SQLITE_READONLY, FileFault::Unusable),
            (ffi::SQLITE_CANTOPEN, FileFault::NotOpened),
            (ffi::SQLITE_NOMEM, FileFault::None),
            (ffi::SQLITE_IOERR_READ, FileFault::None),
            (ffi::SQLITE_FULL, FileFault::None),
            (ffi::SQLITE_BUSY, FileFault::None),
        ] {
            let error = || rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(file_fault(&error().into()), expected, "{}", error());
            assert_eq!(file_fault(&Error::from(error()).into()), expected, "{}", error());
        }
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let other = connection.prepare("SELECT sequence FROM position").unwrap_err();
        assert_eq!(file_fault(&other.into()), FileFault::Unusable);
    }
}
