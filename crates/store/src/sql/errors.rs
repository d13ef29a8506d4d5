//! Converts errors of SQLite to errors of the store.

use crate::error::{BackendError, BackendErrorKind, StoreError};
use crate::sql::Error;
use rusqlite::{ErrorCode, ffi};

/// Returns the store's error for an error of a statement.
pub(crate) fn store_error(error: Error) -> StoreError {
    let kind = match &error {
        Error::Sqlite(error) => kind_of(error),
        Error::Postgres(error) if error.is_connection_lost() => BackendErrorKind::ConnectionLost,
        Error::Postgres(error) if error.is_full() => BackendErrorKind::DiskFull,
        Error::Postgres(error) if error.is_interrupted() => BackendErrorKind::Interrupted,
        Error::Postgres(_) => BackendErrorKind::Other,
    };
    StoreError::Backend(BackendError::new(kind, error))
}

/// Returns the store's error if this is an error of SQLite, and the error itself otherwise.
pub(crate) fn from_sqlite(
    error: Box<dyn std::error::Error + Send + Sync>,
) -> Result<StoreError, Box<dyn std::error::Error + Send + Sync>> {
    let error = match error.downcast::<Error>() {
        Ok(error) => return Ok(store_error(*error)),
        Err(error) => error,
    };
    error.downcast::<rusqlite::Error>().map(|error| store_error((*error).into()))
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
    use hermod_engine::tables::TableError;

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
}
