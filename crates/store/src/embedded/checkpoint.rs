//! Moving the write-ahead log into the database file, on a thread and a connection of its own, so that commits do not
//! wait for it. Only if the log outgrows its limit does the writer stop for a moment and finish the job itself.

use crate::embedded::schema;
use crate::fault::StoreFault;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The log is checkpointed after about this many operations (some 4 KB of log each).
const OPS_PER_CHECKPOINT: usize = 4_000;
/// From this size on the writer itself empties the log. It stays well below 256 MiB.
const LOG_BYTES_MAX: i64 = 128 * 1024 * 1024;
const PAGE_BYTES: i64 = 4096;
/// How long the writer waits for readers when it empties the log itself.
const OVERGROWN_WAIT: Duration = Duration::from_millis(20);

pub(crate) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    overgrown: Arc<AtomicBool>,
    ops_since: usize,
}

impl Checkpointer {
    pub(crate) fn start(folder: &Path) -> Result<Checkpointer, StoreFault> {
        let connection = Connection::open(folder.join(schema::FILE_NAME))?;
        connection
            .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -256; PRAGMA busy_timeout = 0;")?;
        let overgrown = Arc::new(AtomicBool::new(false));
        let (wake, woken) = sync_channel(1);
        let flag = overgrown.clone();
        let thread = std::thread::Builder::new()
            .name("hermod-checkpoint".to_owned())
            .spawn(move || checkpoint_when_woken(&connection, &woken, &flag))
            .map_err(|error| StoreFault::File { path: folder.to_owned(), error })?;
        Ok(Checkpointer { wake: Some(wake), thread: Some(thread), overgrown, ops_since: 0 })
    }

    /// Called by the writer between two batches.
    pub(crate) fn after_batch(&mut self, ops: usize, writer: &Connection) {
        self.ops_since += ops;
        if self.ops_since >= OPS_PER_CHECKPOINT {
            self.ops_since = 0;
            // Already awake is as good.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
        if self.overgrown.swap(false, Ordering::AcqRel) {
            // A long read, such as a backup, keeps the log from being emptied. It is not waited for.
            wait_at_most(writer, OVERGROWN_WAIT);
            run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
            wait_at_most(writer, schema::BUSY_WAIT);
        }
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

fn checkpoint_when_woken(connection: &Connection, woken: &Receiver<()>, overgrown: &AtomicBool) {
    while woken.recv().is_ok() {
        let log_pages = run(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        if log_pages * PAGE_BYTES > LOG_BYTES_MAX {
            overgrown.store(true, Ordering::Release);
        }
    }
}

/// Runs a checkpoint and returns the pages in the log. A checkpoint that cannot be done now is done later, unless the
/// disk failed: pages that a failed fsync lost would never be written again, and the log that has them would be reused.
fn run(connection: &Connection, pragma: &str) -> i64 {
    match connection.query_row(pragma, [], |row| row.get::<_, i64>(1)) {
        Ok(log_pages) => log_pages,
        Err(error) => {
            let fault = StoreFault::from(error);
            if fault.is_fatal() {
                fault.die();
            }
            tracing::warn!(%fault, "The log could not be checkpointed this time");
            0
        }
    }
}

fn wait_at_most(connection: &Connection, wait: Duration) {
    connection.busy_timeout(wait).expect("setting a time-out touches no file");
}
