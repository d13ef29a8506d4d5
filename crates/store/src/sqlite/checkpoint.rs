//! Moving the write-ahead log into the database file, on a thread and a connection of its own, so that commits do not
//! wait for it. Only if the log outgrows its limit does the writer stop for a moment and finish the job itself.
//!
//! A reader that holds a snapshot keeps the log from being emptied, and the log grows with every commit. Reads of the
//! gateway end in time (`readers.rs`), those of other programs may not. The thread looks once a second and truncates an
//! overgrown log as soon as no reader is left.

use crate::disk::Disk;
use crate::error::StoreError;
use crate::sqlite::{errors, schema};
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The log is checkpointed each time it has grown by this many pages of 4 KiB.
const PAGES_PER_CHECKPOINT: i32 = 12_288;
/// From this size on (128 MiB) the writer itself empties the log.
const LOG_PAGES_MAX: i32 = 32_768;
/// How long the writer waits for readers when it empties the log itself.
const OVERGROWN_WAIT: Duration = Duration::from_millis(20);
/// A log file of more than this is truncated: twice what the writer lets it become when no reader is in the way.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// While the disk is nearly full, the space of a smaller log is worth having back too.
const LOG_BYTES_MAX_ON_LOW_DISK: u64 = 4 * 1024 * 1024;
/// How often the size of the log file is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long truncating waits for readers. The writer waits meanwhile.
const TRUNCATE_WAIT: Duration = Duration::from_millis(50);
/// How long a start waits for readers of other programs before it goes on with the log as it is.
const START_WAIT: Duration = Duration::from_secs(1);

pub(crate) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// In the log, as of the last commit.
    log_pages: Arc<AtomicI32>,
    /// When something was last done about it.
    looked_at: Cell<i32>,
}

impl Checkpointer {
    pub(crate) fn start(
        folder: &Path,
        writer: &mut Connection,
        disk: Arc<Disk>,
    ) -> Result<Checkpointer, TableError> {
        let log_pages = Arc::new(AtomicI32::new(0));
        let counter = log_pages.clone();
        writer.wal_hook(Some(move |_: &mut _, pages| {
            counter.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = Connection::open(folder.join(schema::FILE_NAME))?;
        connection
            .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -256; PRAGMA busy_timeout = 0;")?;
        let background = Background { connection, log: schema::log_file(folder), disk };
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("hermod-checkpoint".to_owned())
            .spawn(move || background.run(&woken))
            .map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
        Ok(Checkpointer { wake: Some(wake), thread: Some(thread), log_pages, looked_at: Cell::new(0) })
    }

    /// Called by the writer between two batches.
    pub(crate) fn after_batch(&self, writer: &Connection) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.looked_at.get() {
            // It is written from its beginning again.
            self.looked_at.set(0);
        }
        if pages - self.looked_at.get() < PAGES_PER_CHECKPOINT {
            return;
        }
        self.looked_at.set(pages);
        if pages <= LOG_PAGES_MAX {
            // Already awake is as good.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
            return;
        }
        // A long read keeps the log from being emptied. It is not waited for. The file keeps its size and is written from
        // its beginning again, which is cheaper than making it anew.
        wait_at_most(writer, OVERGROWN_WAIT);
        run(writer, "PRAGMA wal_checkpoint(RESTART)");
        wait_at_most(writer, schema::BUSY_WAIT);
    }

    /// Ends the thread and leaves an empty log behind.
    pub(crate) fn stop(mut self, writer: &Connection) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("The checkpoint thread panicked");
        }
        run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
}

/// Empties the log that the last process left behind, before anything else needs the room. A reader in another process, or
/// a disk without room for the database to grow, only delays it: the thread tries again.
pub(crate) fn truncate_at_start(folder: &Path, writer: &Connection) -> Result<(), StoreError> {
    let bytes = log_bytes(&schema::log_file(folder));
    if bytes == 0 {
        return Ok(());
    }
    wait_at_most(writer, START_WAIT);
    let truncated = checkpoint(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    wait_at_most(writer, schema::BUSY_WAIT);
    match truncated {
        Ok(Progress { all: true }) => Ok(()),
        Ok(Progress { all: false }) => {
            tracing::warn!(log_bytes = bytes, "Another process reads the database; its log stays for now");
            Ok(())
        }
        Err(error) if error.is_disk_full() => {
            tracing::warn!(%error, log_bytes = bytes, "The log could not be moved into the database");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The checkpoint thread.
struct Background {
    connection: Connection,
    log: PathBuf,
    disk: Arc<Disk>,
}

impl Background {
    fn run(self, woken: &Receiver<()>) {
        loop {
            match woken.recv_timeout(LOOK) {
                Ok(()) => drop(run(&self.connection, "PRAGMA wal_checkpoint(PASSIVE)")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.truncate_if_overgrown();
        }
    }

    /// Moves everything into the database without holding anyone up, and truncates the file once nothing is left to move.
    fn truncate_if_overgrown(&self) {
        let bytes_max = if self.disk.is_accepting() { LOG_BYTES_MAX } else { LOG_BYTES_MAX_ON_LOW_DISK };
        let before = log_bytes(&self.log);
        let wanted = self.disk.take_truncation_request();
        if wanted || before > bytes_max {
            let truncated = self.truncate();
            if wanted && !truncated {
                self.disk.request_truncation();
            }
        }
        let after = log_bytes(&self.log);
        self.disk.set_log_size(after, after > bytes_max);
        if before > bytes_max && after <= bytes_max {
            tracing::info!(from_bytes = before, to_bytes = after, "The overgrown log is truncated");
            self.disk.measure();
        }
    }
}

impl Background {
    /// True if the log is empty now, but for what was committed since.
    fn truncate(&self) -> bool {
        if run(&self.connection, "PRAGMA wal_checkpoint(PASSIVE)").is_none_or(|moved| !moved.all) {
            return false;
        }
        wait_at_most(&self.connection, TRUNCATE_WAIT);
        let truncated = run(&self.connection, "PRAGMA wal_checkpoint(TRUNCATE)");
        wait_at_most(&self.connection, Duration::ZERO);
        truncated.is_some_and(|moved| moved.all)
    }
}

/// What a checkpoint came to.
struct Progress {
    /// The whole log is in the database now.
    all: bool,
}

fn checkpoint(connection: &Connection, pragma: &str) -> Result<Progress, StoreError> {
    let read = connection.query_row(pragma, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (busy, in_log, moved): (i64, i64, i64) = read.map_err(errors::store_error)?;
    Ok(Progress { all: busy == 0 && in_log == moved })
}

/// Runs a checkpoint. One that cannot be done now is done later, unless the disk failed: pages that a failed fsync lost
/// would never be written again, and the log that has them would be reused.
fn run(connection: &Connection, pragma: &str) -> Option<Progress> {
    match checkpoint(connection, pragma) {
        Ok(progress) => Some(progress),
        Err(error) if error.is_fatal() => error.exit_process(),
        // ReportStatus once, by whoever finds that nothing can be written any more.
        Err(error) if error.is_disk_full() => None,
        Err(error) => {
            tracing::warn!(%error, "The log could not be checkpointed this time");
            None
        }
    }
}

fn wait_at_most(connection: &Connection, wait: Duration) {
    connection.busy_timeout(wait).expect("setting a time-out touches no file");
}

fn log_bytes(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |file| file.len())
}
