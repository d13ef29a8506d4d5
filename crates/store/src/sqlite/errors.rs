//! What errors of SQLite mean to the store.

use crate::error::{BackendError, BackendErrorKind, StoreError};
use rusqlite::ErrorCode;
use std::error::Error;

/// Returns the store's fault for an error of SQLite.
pub(crate) fn fault_of(error: rusqlite::Error) -> StoreError {
    StoreError::Backend(BackendError::new(kind_of(&error), error))
}

/// Returns the fault for an error of a table, if it is SQLite's; the error itself otherwise.
pub(crate) fn table_fault(
    error: Box<dyn Error + Send + Sync>,
) -> Result<StoreError, Box<dyn Error + Send + Sync>> {
    error.downcast::<rusqlite::Error>().map(|error| fault_of(*error))
}

fn kind_of(error: &rusqlite::Error) -> BackendErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => BackendErrorKind::DiskFull,
        Some(ErrorCode::OperationInterrupted) => BackendErrorKind::Interrupted,
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            BackendErrorKind::DiskFailed
        }
        _ => BackendErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_engine::tables::TableError;
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
            let fault = StoreError::from(TableError::from(error()));
            assert_eq!(fault.to_string(), format!("the store refused: {}", error()));
            assert_eq!((fault.is_disk_full(), fault.is_fatal()), (full, fatal), "{fault}");
            assert_eq!(matches!(fault.or_too_long(), StoreError::ReadTooLong), interrupted, "{code}");
        }
    }
}
