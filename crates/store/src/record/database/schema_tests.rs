//! Unit tests of `schema.rs`.

use super::*;
use rusqlite::ffi;
use tempfile::TempDir;

#[test]
fn record_is_set_aside_only_if_its_file_is_the_cause_of_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, "a record").unwrap();
    let file = |errno: Errno| StoreError::File { path: path.clone(), error: errno.into() }.into();
    let sqlite = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into();
    for error in [file(Errno::ACCESS), file(Errno::ISDIR), sqlite(ffi::SQLITE_NOTADB)] {
        assert!(is_unusable(folder.path(), &error), "{error:?}");
    }
    let of_the_process = [file(Errno::MFILE), file(Errno::NFILE), sqlite(ffi::SQLITE_NOMEM)];
    let of_the_disk = [file(Errno::IO), sqlite(ffi::SQLITE_IOERR), sqlite(ffi::SQLITE_FULL)];
    for error in of_the_process.into_iter().chain(of_the_disk).chain([sqlite(ffi::SQLITE_CANTOPEN)]) {
        assert!(!is_unusable(folder.path(), &error), "{error:?}");
    }
    std::fs::create_dir(folder.path().join("record.db-wal")).unwrap();
    assert!(is_unusable(folder.path(), &sqlite(ffi::SQLITE_CANTOPEN)));
}

#[test]
fn first_records_that_were_set_aside_are_kept_and_their_number_is_limited() {
    let folder = TempDir::new().unwrap();
    for number in 1..=5 {
        std::fs::write(folder.path().join(FILE_NAME), format!("record {number}")).unwrap();
        set_aside(folder.path(), "for a test").unwrap();
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let kept = ["record.db.unusable", "record.db.unusable-2", "record.db.unusable-3"].map(read);
    assert_eq!(kept, ["record 1", "record 2", "record 5"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), kept.len());
    delete_unusable(folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
