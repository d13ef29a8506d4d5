//! Moving the write-ahead log into the database file, on a thread and a connection of its own, so that commits do not
//! wait for it. Only if the log outgrows its limit does the writer stop for a moment and finish the job itself.

use crate::embedded::schema;
use crate::fault::StoreFault;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The log is checkpointed each time it has grown by this many pages of 4 KiB.
const PAGES_PER_CHECKPOINT: i32 = 12_288;
/// From this size on (128 MiB) the writer itself empties the log.
const LOG_PAGES_MAX: i32 = 32_768;
/// How long the writer waits for readers when it empties the log itself.
const OVERGROWN_WAIT: Duration = Duration::from_millis(20);

pub(crate) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// In the log, as of the last commit.
    log_pages: Arc<AtomicI32>,
    /// When something was last done about it.
    looked_at: i32,
}

impl Checkpointer {
    pub(crate) fn start(folder: &Path, writer: &mut Connection) -> Result<Checkpointer, StoreFault> {
        let log_pages = Arc::new(AtomicI32::new(0));
        let counter = log_pages.clone();
        writer.wal_hook(Some(move |_: &mut _, pages| {
            counter.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = Connection::open(folder.join(schema::FILE_NAME))?;
        connection
            .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -256; PRAGMA busy_timeout = 0;")?;
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("hermod-checkpoint".to_owned())
            .spawn(move || checkpoint_when_woken(&connection, &woken))
            .map_err(|error| StoreFault::File { path: folder.to_owned(), error })?;
        Ok(Checkpointer { wake: Some(wake), thread: Some(thread), log_pages, looked_at: 0 })
    }

    /// Called by the writer between two batches.
    pub(crate) fn after_batch(&mut self, writer: &Connection) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.looked_at {
            // It is written from its beginning again.
            self.looked_at = 0;
        }
        if pages - self.looked_at < PAGES_PER_CHECKPOINT {
            return;
        }
        self.looked_at = pages;
        if pages <= LOG_PAGES_MAX {
            // Already awake is as good.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
            return;
        }
        // A long read, such as a backup, keeps the log from being emptied. It is not waited for. The file keeps its
        // size and is written from its beginning again, which is cheaper than making it anew.
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

fn checkpoint_when_woken(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        run(connection, "PRAGMA wal_checkpoint(PASSIVE)");
    }
}

/// Runs a checkpoint. One that cannot be done now is done later, unless the disk failed: pages that a failed fsync lost
/// would never be written again, and the log that has them would be reused.
fn run(connection: &Connection, pragma: &str) {
    if let Err(error) = connection.query_row(pragma, [], |_| Ok(())) {
        let fault = StoreFault::from(error);
        if fault.is_fatal() {
            fault.die();
        }
        tracing::warn!(%fault, "The log could not be checkpointed this time");
    }
}

fn wait_at_most(connection: &Connection, wait: Duration) {
    connection.busy_timeout(wait).expect("setting a time-out touches no file");
}
