//! Checkpoints: moves the write-ahead log into the database file, on its own thread and connection, so that commits do not
//! wait for it. Only if the log exceeds its limit does the writer itself make a checkpoint.
//!
//! A reader with an open snapshot prevents the log from being reset, and every commit makes it longer. Reads of the gateway
//! are limited to 5 seconds (`readers.rs`); those of other programs are not. The thread checks once a second and truncates a
//! log that is too large as soon as no reader prevents it.

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

/// A checkpoint is made each time the log has grown by this many pages of 4 KiB.
const PAGES_PER_CHECKPOINT: i32 = 12_288;
/// Above this size (128 MiB) the writer itself makes a checkpoint.
const LOG_PAGES_MAX: i32 = 32_768;
/// How long the writer waits for readers when it makes a checkpoint itself.
const OVERGROWN_WAIT: Duration = Duration::from_millis(20);
/// A larger log file is truncated. Twice the size at which the writer makes a checkpoint.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The same while the disk is nearly full, to free its space.
const LOG_BYTES_MAX_ON_LOW_DISK: u64 = 4 * 1024 * 1024;
/// How often the size of the log file is checked.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How long a truncation waits for readers. The writer is blocked meanwhile.
const TRUNCATE_WAIT: Duration = Duration::from_millis(50);
/// How long a start waits for readers of other programs before it continues with the log as it is.
const START_WAIT: Duration = Duration::from_secs(1);

/// The writer's handle to the checkpoint thread.
pub(crate) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Pages in the log, as of the last commit.
    log_pages: Arc<AtomicI32>,
    /// Pages in the log when the last checkpoint was requested.
    checkpointed_at: Cell<i32>,
}

impl Checkpointer {
    /// Starts the thread. The writer's connection counts the pages of the log from here on.
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
        Ok(Checkpointer { wake: Some(wake), thread: Some(thread), log_pages, checkpointed_at: Cell::new(0) })
    }

    /// Requests a checkpoint if the log has grown enough, or makes it here if the log is above its limit. The writer calls it
    /// between two batches.
    pub(crate) fn after_batch(&self, writer: &Connection) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_at.get() {
            // The log was reset: it is written from its beginning again.
            self.checkpointed_at.set(0);
        }
        if pages - self.checkpointed_at.get() < PAGES_PER_CHECKPOINT {
            return;
        }
        self.checkpointed_at.set(pages);
        if pages <= LOG_PAGES_MAX {
            // A full channel means that the thread has been woken already.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
            return;
        }
        // RESTART keeps the file at its size and writes it from its beginning again, which is cheaper than TRUNCATE. It does
        // not wait for a long read, which would prevent it.
        wait_at_most(writer, OVERGROWN_WAIT);
        run(writer, "PRAGMA wal_checkpoint(RESTART)");
        wait_at_most(writer, schema::BUSY_WAIT);
    }

    /// Stops the thread and truncates the log.
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

/// Truncates the log that the last process left behind. If a reader of another process or a full disk prevents it, logs a
/// warning and succeeds: the thread tries again.
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
            tracing::warn!(
                log_bytes = bytes,
                "Another process reads the database; its log is truncated later"
            );
            Ok(())
        }
        Err(error) if error.is_disk_full() => {
            tracing::warn!(%error, log_bytes = bytes, "The disk is full; the log could not be moved into the database");
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
            match woken.recv_timeout(CHECK_EVERY) {
                Ok(()) => drop(run(&self.connection, "PRAGMA wal_checkpoint(PASSIVE)")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.truncate_if_overgrown();
        }
    }

    /// Truncates the log if it is too large or a truncation was requested, and records its size.
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
            tracing::info!(
                from_bytes = before,
                to_bytes = after,
                "The log was too large and has been truncated"
            );
            self.disk.measure();
        }
    }
}

impl Background {
    /// Moves the log into the database without blocking the writer, then truncates it. Returns false if a reader prevented
    /// that.
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

/// The result of a checkpoint.
struct Progress {
    /// Whether the whole log is in the database now.
    all: bool,
}

/// Makes a checkpoint of the kind that the pragma names.
fn checkpoint(connection: &Connection, pragma: &str) -> Result<Progress, StoreError> {
    let read = connection.query_row(pragma, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (busy, in_log, moved): (i64, i64, i64) = read.map_err(errors::store_error)?;
    Ok(Progress { all: busy == 0 && in_log == moved })
}

/// Makes a checkpoint; `None` if it failed and is to be retried later. Ends the process if the disk failed: pages that a
/// failed fsync lost would not be written again, and the log that holds them would be overwritten.
fn run(connection: &Connection, pragma: &str) -> Option<Progress> {
    match checkpoint(connection, pragma) {
        Ok(progress) => Some(progress),
        Err(error) if error.is_fatal() => error.exit_process(),
        // Logged by the writer when a commit fails.
        Err(error) if error.is_disk_full() => None,
        Err(error) => {
            tracing::warn!(%error, "A checkpoint of the log failed; it is retried");
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
