//! Recognises a write-ahead log that belongs to another database than the one beside it.

use crate::error::StoreError;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Where the header of a SQLite file says whether the database uses a write-ahead log, and the value for one that does not.
const WRITE_VERSION_OFFSET: u64 = 18;
const WITHOUT_LOG: u8 = 1;

/// Fails with [`StoreError::OtherLog`] if the folder has a copy beside a write-ahead log: SQLite would apply the log, which
/// belongs to another database. A copy has no log until it is first opened for writing.
pub(super) fn check_log(folder: &Path) -> Result<(), StoreError> {
    let path = super::log_file(folder);
    if !std::fs::metadata(&path).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let mut version = [0];
    let database = folder.join(super::FILE_NAME);
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
