//! Unit tests of `errors.rs`.

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
