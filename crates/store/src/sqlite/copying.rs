//! Copies the database without a long snapshot, which would prevent the log from being truncated.
//!
//! While a gateway runs, its writer makes the copy on its own connection, a few pages after each batch. SQLite applies later
//! changes of pages that were copied already to the copy too, so that it is consistent as of the last batch before its end.
//! Where no gateway runs, the pages are copied in short reads.

use crate::data_folder::lock;
use crate::error::StoreError;
use crate::sqlite::{history, schema};
use hermod_domain::hold::Hold;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Pages of 4 KiB copied after one batch: about a millisecond.
const PAGES_PER_STEP: i32 = 256;
/// Pages copied in one read where no gateway runs.
const PAGES_PER_STEP_ALONE: i32 = 4_096;
/// Pause after a step that found the database locked.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Copies the writer's database into a new file. `between` runs after each step; if it fails, the copy is aborted and its
/// file removed. The copy is complete when this returns, and durable after [`finish`].
pub(super) fn copy_in_use(
    writer: &Connection,
    file: &Path,
    between: &mut dyn FnMut() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    make_new(file)?;
    copy(writer, file, PAGES_PER_STEP, between).map_err(StoreError::from).inspect_err(|_| discard(file))
}

/// Copies the database of a folder that no process has open. Fails with [`StoreError::InUse`] and removes the file if one
/// opens it meanwhile. A gateway that starts with the copy is held.
pub(crate) fn back_up(folder: &Path, destination: &Path, hold: &Hold) -> Result<(), StoreError> {
    let source = schema::open_existing(folder)?;
    make_new(destination)?;
    // A change by another process would make SQLite restart the copy from its first page.
    let mut check_alone = || match lock::is_in_use(folder) {
        Ok(false) => Ok(()),
        Ok(true) => Err(StoreError::InUse(folder.to_owned())),
        Err(error) => Err(error),
    };
    let copied = check_alone()
        .map_err(TableError::from)
        .and_then(|()| copy(source.sqlite(), destination, PAGES_PER_STEP_ALONE, &mut check_alone))
        .and_then(|()| finish(destination, Some(hold)));
    // An incomplete copy must not be mistaken for a complete one.
    Ok(copied.map(drop).inspect_err(|_| discard(destination))?)
}

fn copy(
    source: &Connection,
    file: &Path,
    pages_per_step: i32,
    between: &mut dyn FnMut() -> Result<(), StoreError>,
) -> Result<(), TableError> {
    let mut copy = open_copy(file)?;
    let steps = Backup::new(source, &mut copy)?;
    loop {
        match steps.step(pages_per_step)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => wait_for_lock(),
        }
        between()?;
    }
}

/// Waits before the next step, after SQLite reported that the database is locked.
#[expect(clippy::disallowed_methods, reason = "SQLite has no event for a lock that becomes free")]
fn wait_for_lock() {
    std::thread::sleep(BUSY_PAUSE);
}

/// Creates an empty file that only its owner may read. Fails if the file exists.
fn make_new(file: &Path) -> Result<(), StoreError> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(file);
    made.map(drop).map_err(|error| StoreError::File { path: file.to_owned(), error })
}

/// Opens the file of a copy, without a journal and without fsync: an incomplete copy is discarded, and a complete one is
/// synced as a whole.
fn open_copy(file: &Path) -> Result<Connection, TableError> {
    let copy = Connection::open(file)?;
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;")?;
    Ok(copy)
}

/// Marks a complete copy as one, and as held if it is a backup, and makes it durable and readable without a log file. Returns its
/// size in bytes.
pub(crate) fn finish(file: &Path, hold: Option<&Hold>) -> Result<u64, TableError> {
    let copy = Connection::open(file)?;
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    if let Some(hold) = hold {
        history::mark_held(&copy, hold)?;
    }
    // The last one: it says that the copy is complete.
    history::mark_copy(&copy)?;
    copy.close().map_err(|(_, error)| error)?;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for path in [file, folder] {
        let synced = File::open(path).and_then(|file| file.sync_all());
        synced.map_err(|error| StoreError::File { path: path.to_owned(), error })?;
    }
    let bytes = std::fs::metadata(file).map(|file| file.len());
    Ok(bytes.map_err(|error| StoreError::File { path: file.to_owned(), error })?)
}

fn discard(file: &Path) {
    // If it cannot be removed, the error that caused the abort is still returned.
    let _ = std::fs::remove_file(file);
}
