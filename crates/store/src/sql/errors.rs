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
#[path = "errors_tests.rs"]
mod tests;
