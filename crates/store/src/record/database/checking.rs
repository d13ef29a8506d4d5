//! Checks a record before it is read. SQLite finds damage only where it reads, so a record that was not closed in an orderly way,
//! or that was changed since, is checked as a whole with its indexes, on a thread of its own while the follower writes it.

use crate::error::StoreError;
use crate::record::database::schema;
use hermod_engine::tables::TableError;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Says how the file of the record was when it was closed.
const CLOSED_NAME: &str = "record.closed";
/// Virtual machine instructions of SQLite between two looks whether to stop: a few milliseconds.
const STEPS_PER_CHECK: i32 = 50_000;
/// The lowest priority of a thread.
const NICE: i32 = 19;

/// The size of a file and when it was changed, as text.
fn state_of(file: &Metadata) -> String {
    let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
    format!("{} {modified:?} {changed:?}", file.len())
}

/// Whether the record is as it was closed. To be called before it is opened: from then on it counts as not closed.
pub(super) fn takes_closed_mark(folder: &Path) -> bool {
    let mark = folder.join(CLOSED_NAME);
    let closed_as = std::fs::read_to_string(&mark).ok();
    // If it cannot be removed, the time of the next change differs.
    let _ = std::fs::remove_file(&mark);
    match std::fs::metadata(folder.join(schema::FILE_NAME)) {
        Ok(file) => file.len() == 0 || closed_as.is_some_and(|closed_as| closed_as == state_of(&file)),
        // A new record.
        Err(_) => true,
    }
}

/// Notes how the record is, when nothing is written any more.
pub(super) fn put_closed_mark(folder: &Path) {
    let put = || {
        let state = state_of(&std::fs::metadata(folder.join(schema::FILE_NAME))?);
        let mut options = std::fs::OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(folder.join(CLOSED_NAME))?;
        std::io::Write::write_all(&mut file, state.as_bytes())
    };
    // Without it the next start checks the record.
    let _: std::io::Result<()> = put();
}

/// A check that runs. Dropping it stops it.
pub(crate) struct RecordCheck {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl RecordCheck {
    pub(crate) fn start(folder: &Path) -> Result<RecordCheck, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, of) = (stop.clone(), folder.to_owned());
        let thread = std::thread::Builder::new()
            .name("hermod-record-check".to_owned())
            .spawn(move || check(of, stopped))
            .map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
        Ok(RecordCheck { stop, thread: Some(thread) })
    }

    /// Returns the result if it has ended: an error if the record is damaged.
    pub(crate) fn result(&mut self) -> Option<Result<(), StoreError>> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        Some(thread.join().unwrap_or_else(|_| Err(StoreError::damaged("the check of the record panicked"))))
    }
}

impl Drop for RecordCheck {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn check(folder: PathBuf, stopped: Arc<AtomicBool>) -> Result<(), StoreError> {
    // Of this thread only.
    let _ = rustix::process::setpriority_process(None, NICE);
    let mut connection = schema::open_for_reading(&folder)?;
    let stop = Some(move || stopped.load(Ordering::Acquire));
    connection.sqlite_mut().progress_handler(STEPS_PER_CHECK, stop).map_err(TableError::from)?;
    let found = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<String>(0));
    match found.map_err(TableError::from)?.as_str() {
        "ok" => Ok(()),
        found => Err(StoreError::damaged(found)),
    }
}
