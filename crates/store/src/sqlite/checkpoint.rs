//! Checkpoints: moves the write-ahead log into the database file, on its own thread and connection, so that the writer does not
//! wait for it. Only if the log exceeds its limit does the writer itself make a checkpoint. The thread also syncs the log once
//! a second, after which the journal need not keep its batches.
//!
//! A reader with an open snapshot prevents the log from being reset, and every flush makes it longer. Reads of the gateway
//! are limited to 5 seconds (`readers.rs`); those of other programs are not. The thread checks once a second whether the log
//! is too large, and the writer then truncates it after its next flush, as soon as no reader prevents it.

use crate::data_folder::disk::Disk;
use crate::error::StoreError;
use crate::sql::errors;
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::schema;
use hermod_engine::tables::TableError;
use rusqlite::Connection;
use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
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
    /// The writer truncates the log after its next flush: its transaction is open at most other times.
    truncate: Arc<AtomicBool>,
    log: Arc<LogFile>,
    disk: Arc<Disk>,
    progress: Arc<BatchNumbers>,
}

/// The file of the log, which stays the same while the database is open.
struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    fn open(folder: &Path) -> Result<LogFile, StoreError> {
        let path = schema::log_file(folder);
        match File::open(&path) {
            Ok(file) => Ok(LogFile { path, file }),
            Err(error) => Err(StoreError::File { path, error }),
        }
    }

    fn bytes(&self) -> u64 {
        log_bytes(&self.path)
    }

    /// Syncs the log. Everything that was flushed before is durable then: it is in the log, or in the database, which a
    /// checkpoint has synced. Ends the process if the disk fails.
    fn sync(&self, progress: &BatchNumbers) {
        let flushed = progress.visible();
        if flushed == progress.durable() {
            return;
        }
        if let Err(error) = self.file.sync_data() {
            StoreError::disk_failed(&self.path, error).exit_process();
        }
        progress.set_durable(flushed);
    }
}

impl Checkpointer {
    /// Starts the thread. The writer's connection counts the pages of the log from here on.
    pub(crate) fn start(
        folder: &Path,
        writer: &mut Connection,
        disk: Arc<Disk>,
        progress: Arc<BatchNumbers>,
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
        let (log, truncate) = (Arc::new(LogFile::open(folder)?), Arc::new(AtomicBool::new(false)));
        let background = Background {
            connection,
            log: log.clone(),
            disk: disk.clone(),
            truncate: truncate.clone(),
            progress: progress.clone(),
        };
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("hermod-checkpoint".to_owned())
            .spawn(move || background.run(&woken))
            .map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
        Ok(Checkpointer {
            wake: Some(wake),
            thread: Some(thread),
            log_pages,
            checkpointed_at: Cell::new(0),
            truncate,
            log,
            disk,
            progress,
        })
    }

    /// Truncates the log if that is wanted. Requests a checkpoint if the log has grown enough, or makes it here if the log is
    /// above its limit. The writer calls it after each flush. Returns whether the log was truncated: then everything flushed
    /// is in the database file, and durable.
    pub(crate) fn after_flush(&self, writer: &Connection) -> bool {
        if self.truncate.swap(false, Ordering::AcqRel) {
            wait_at_most(writer, TRUNCATE_WAIT);
            let truncated = run(writer, "PRAGMA wal_checkpoint(TRUNCATE)").is_some_and(|moved| moved.all);
            wait_at_most(writer, schema::BUSY_WAIT);
            if truncated {
                self.disk.truncation_done();
                self.progress.set_durable(self.progress.visible());
            }
            return truncated;
        }
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_at.get() {
            // The log was reset: it is written from its beginning again.
            self.checkpointed_at.set(0);
        }
        if pages - self.checkpointed_at.get() < PAGES_PER_CHECKPOINT {
            return false;
        }
        self.checkpointed_at.set(pages);
        if pages <= LOG_PAGES_MAX {
            // A full channel means that the thread has been woken already.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
            return false;
        }
        // RESTART keeps the file at its size and writes it from its beginning again, which is cheaper than TRUNCATE. It does
        // not wait for a long read, which would prevent it.
        wait_at_most(writer, OVERGROWN_WAIT);
        run(writer, "PRAGMA wal_checkpoint(RESTART)");
        wait_at_most(writer, schema::BUSY_WAIT);
        false
    }

    /// Makes everything durable that was flushed so far. Ends the process if the disk fails.
    pub(crate) fn sync_log(&self) {
        self.log.sync(&self.progress);
    }

    /// Stops the thread, makes everything durable that was flushed, and truncates the log.
    pub(crate) fn stop(mut self, writer: &Connection) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("The checkpoint thread panicked");
        }
        self.sync_log();
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
        Ok(Moved { all: true }) => Ok(()),
        Ok(Moved { all: false }) => {
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
    log: Arc<LogFile>,
    disk: Arc<Disk>,
    truncate: Arc<AtomicBool>,
    progress: Arc<BatchNumbers>,
}

impl Background {
    fn run(self, woken: &Receiver<()>) {
        loop {
            match woken.recv_timeout(CHECK_EVERY) {
                Ok(()) => drop(run(&self.connection, "PRAGMA wal_checkpoint(PASSIVE)")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.log.sync(&self.progress);
            self.truncate_if_overgrown();
        }
    }

    /// Lets the writer truncate the log if it is too large or a truncation was requested, and records its size.
    fn truncate_if_overgrown(&self) {
        let bytes_max = if self.disk.is_accepting() { LOG_BYTES_MAX } else { LOG_BYTES_MAX_ON_LOW_DISK };
        let bytes = self.log.bytes();
        let overgrown = bytes > bytes_max;
        if overgrown || self.disk.is_truncation_requested() {
            self.truncate();
        }
        if self.disk.set_log_size(bytes, overgrown) && !overgrown {
            tracing::info!(bytes, "The log was too large and has been truncated");
            self.disk.measure();
        }
    }

    /// Moves the log into the database without blocking the writer, then lets the writer truncate it, unless a reader would
    /// prevent that.
    fn truncate(&self) {
        if run(&self.connection, "PRAGMA wal_checkpoint(PASSIVE)").is_some_and(|moved| moved.all) {
            self.truncate.store(true, Ordering::Release);
            self.progress.request_flush();
        }
    }
}

/// The result of a checkpoint.
struct Moved {
    /// Whether the whole log is in the database now.
    all: bool,
}

/// Makes a checkpoint of the kind that the pragma names.
fn checkpoint(connection: &Connection, pragma: &str) -> Result<Moved, StoreError> {
    let read = connection.query_row(pragma, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (busy, in_log, moved): (i64, i64, i64) = read.map_err(|error| errors::store_error(error.into()))?;
    Ok(Moved { all: busy == 0 && in_log == moved })
}

/// Makes a checkpoint; `None` if it failed and is to be retried later. Ends the process if the disk failed: pages that a
/// failed fsync lost would not be written again, and the log that holds them would be overwritten.
fn run(connection: &Connection, pragma: &str) -> Option<Moved> {
    match checkpoint(connection, pragma) {
        Ok(moved) => Some(moved),
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
