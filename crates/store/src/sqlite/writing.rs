//! The only connection that writes, and the journal in front of it.
//!
//! A batch is applied to the tables inside a transaction that stays open over many batches, and is durable when its changes
//! are in the journal. A *flush* commits the transaction: from then on readers see its batches. The log of the database is
//! synced once a second by the checkpoint thread; then the journal forgets the batches (`progress.rs` has the numbers).
//! After a crash, and after SQLite has rolled the open transaction back by itself, the batches that the database lacks are
//! applied again from the journal.

use crate::data_folder::disk::Disk;
use crate::error::{BackendError, BackendErrorKind, StoreError};
use crate::journal::Journal;
use crate::sql::Connection;
use crate::sql::read_results::StorePosition;
use crate::sql::{SqlTables, errors};
use crate::sqlite::checkpoint::{self, Checkpointer};
use crate::sqlite::commit_mark::CommitMark;
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::recovery::{open_with_reserve, recover};
use crate::sqlite::replaying::apply;
use crate::sqlite::reserve::Reserve;
use crate::sqlite::{audit_head, copying, schema};
use hermod_domain::audit::{AuditEnd, AuditKey};
use hermod_engine::tables::{CHANGE_ENCODING, ChangeLog, TableError, Tables};
use metrics::{Counter, Gauge, counter, gauge};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A flush is made once the open transaction is this old.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// A flush is made once this many bytes were added to the journal: some thousand messages.
const FLUSH_BYTES: usize = 1024 * 1024;
/// A flush is made after a pause of this length, so that readers seldom have to wait for one.
const FLUSH_WHEN_IDLE: Duration = Duration::from_millis(50);
/// The least time between two flushes that readers ask for.
const FLUSHES_FOR_READERS_EVERY: Duration = Duration::from_millis(1);
/// Above this size of the journal (some seconds of a start) no batch is accepted until the database is synced.
const JOURNAL_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Pause between two attempts to flush while the disk is full.
const FULL_DISK_PAUSE: Duration = Duration::from_millis(500);

/// The writer's connection.
pub(crate) struct WritingConnection {
    connection: Connection,
    folder: PathBuf,
    journal: RefCell<Journal>,
    /// The changes of the current batch.
    changes: RefCell<ChangeLog>,
    mark: CommitMark,
    progress: Arc<BatchNumbers>,
    unflushed: Unflushed,
    reserve: Reserve,
    meters: JournalMeters,
    in_batch: Cell<bool>,
    /// Set by [`WritingConnection::start_checkpoints`], like the next.
    disk: Option<Arc<Disk>>,
    checkpointer: Option<Checkpointer>,
}

/// The batches of the open transaction.
struct Unflushed {
    bytes: Cell<usize>,
    /// When the first and the last of them were committed.
    since: Cell<Option<(Instant, Instant)>>,
    /// When the last flush was tried.
    flushed_at: Cell<Instant>,
}

/// One batch. Dropping it without [`JournaledBatch::commit`] undoes its changes.
#[must_use = "a transaction that is dropped is rolled back"]
pub(crate) struct JournaledBatch<'c> {
    database: &'c WritingConnection,
}

impl WritingConnection {
    /// Opens the database, creates and migrates it as needed, applies the batches that only the journal has, and truncates the
    /// log that the last process left behind. Fails with [`StoreError::Behind`] if acknowledged batches are missing.
    pub(super) fn open(folder: &Path, progress: Arc<BatchNumbers>) -> Result<WritingConnection, StoreError> {
        let reserve = Reserve::new(folder);
        let connection = open_with_reserve(folder, Some(&reserve))?;
        let (journal, mark) = recover(folder, &connection, &reserve)?;
        checkpoint::truncate_at_start(folder, connection.sqlite())?;
        schema::let_journal_sync(&connection)?;
        progress.start(journal.last_sequence());
        Ok(WritingConnection {
            connection,
            folder: folder.to_owned(),
            journal: RefCell::new(journal),
            changes: RefCell::default(),
            mark,
            progress,
            unflushed: Unflushed {
                bytes: Cell::new(0),
                since: Cell::new(None),
                flushed_at: Cell::new(real_time()),
            },
            reserve,
            meters: JournalMeters::register(),
            in_batch: Cell::new(false),
            disk: None,
            checkpointer: None,
        })
    }

    /// Starts the checkpoint thread.
    pub(crate) fn start_checkpoints(&mut self, disk: Arc<Disk>) -> Result<(), StoreError> {
        let progress = self.progress.clone();
        self.disk = Some(disk.clone());
        self.checkpointer =
            Some(Checkpointer::start(&self.folder, self.connection.sqlite_mut(), disk, progress)?);
        // What was committed while opening. The transaction must not stay open.
        self.flush();
        Ok(())
    }

    pub(crate) fn tables(&self) -> Tables<'_> {
        SqlTables::logged(&self.connection, &self.changes)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the id of this database, and the last batch in the journal.
    pub(crate) fn store_position(&self) -> Result<StorePosition, TableError> {
        let history = schema::journal_position(&self.connection)?.history;
        Ok(StorePosition { id: history.0, sequence: self.journal.borrow().last_sequence() })
    }

    /// Writes the end of the audit log to its file.
    pub(crate) fn keep_audit_head(&self, key: AuditKey, end: AuditEnd) {
        if let Err(error) = audit_head::keep(&self.folder, &self.connection, key, end) {
            tracing::error!(%error, "The end of the audit log could not be written to its file");
        }
    }

    /// Begins a batch.
    pub(crate) fn begin(&self) -> Result<JournaledBatch<'_>, TableError> {
        self.open_transaction()?;
        self.changes.borrow_mut().clear();
        self.connection.prepare_cached("SAVEPOINT batch")?.execute([])?;
        self.in_batch.set(true);
        Ok(JournaledBatch { database: self })
    }

    /// Opens the transaction that holds the next batches, unless it is open. If SQLite has rolled the last one back, its
    /// batches are applied again.
    fn open_transaction(&self) -> Result<(), TableError> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let visible = self.progress.visible();
        let journal = self.journal.borrow();
        if journal.last_sequence() == visible {
            return Ok(());
        }
        tracing::warn!(
            batches = journal.last_sequence() - visible,
            "The database has undone its last transaction; applying its batches again from the journal"
        );
        let stored = SqlTables { connection: &self.connection };
        let applied: Result<(), StoreError> =
            journal.read_after(visible, &mut |batch| apply(&batch, &stored));
        // Without all of its batches the transaction must not stay open.
        Ok(applied.inspect_err(|_| drop(self.connection.execute_batch("ROLLBACK")))?)
    }

    /// Undoes the changes of the current batch. Does nothing if there is none. Fails if the tables do not have all earlier
    /// batches afterwards.
    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        self.changes.borrow_mut().clear();
        if self.connection.is_autocommit() {
            self.in_batch.set(false);
            // If SQLite has ended the transaction itself, the engine is about to read tables that lack its batches.
            let has_all = self.journal.borrow().last_sequence() == self.progress.visible();
            return if has_all { Ok(()) } else { Ok(self.open_transaction()?) };
        }
        if self.in_batch.get() {
            let undone = self.connection.execute_batch("ROLLBACK TO batch; RELEASE batch");
            undone.map_err(errors::store_error)?;
            self.in_batch.set(false);
        }
        Ok(())
    }

    /// Makes the batch durable: its changes are in the journal when this returns.
    fn commit_batch(&self) -> Result<(), TableError> {
        let changes = self.changes.borrow();
        if !changes.is_empty() {
            // While the store is opened, the few changes of the start are made without a reserve too.
            if !self.reserve.is_held() && self.checkpointer.is_some() {
                return Err(disk_full().into());
            }
            if self.connection.is_autocommit() {
                return Err(
                    StoreError::damaged("SQLite ended the transaction of a batch without an error").into()
                );
            }
            let mut journal = self.journal.borrow_mut();
            journal.reserve(changes.bytes().len()).map_err(StoreError::from)?;
            let sequence = match journal.append(CHANGE_ENCODING, changes.bytes()) {
                Ok(sequence) => sequence,
                // Unknown whether it is durable. The next start finds out.
                Err(error) => StoreError::from(error).exit_process(),
            };
            self.meters.fsyncs.increment(1);
            self.mark.committed(sequence);
            self.progress.set_committed(sequence);
            self.unflushed.bytes.set(self.unflushed.bytes.get() + changes.bytes().len());
            let now = real_time();
            self.unflushed.since.set(Some((self.unflushed.since.get().map_or(now, |(first, _)| first), now)));
        }
        self.in_batch.set(false);
        let released =
            self.connection.prepare_cached("RELEASE batch").and_then(|mut release| release.execute([]));
        if let Err(error) = released {
            // The batch is durable, so it must not fail.
            errors::store_error(error).exit_process();
        }
        Ok(())
    }

    /// Flushes if it is time, and lets the journal forget what the database has. Call it between two batches, and whenever
    /// [`WritingConnection::next_upkeep`] says.
    pub(crate) fn after_batch(&self) {
        let mut journal = self.journal.borrow_mut();
        journal.trim(self.progress.durable());
        let overgrown = journal.backlog_bytes() > JOURNAL_BYTES_MAX;
        drop(journal);
        if overgrown || self.is_flush_due() {
            self.flush();
        } else if self.unflushed.since.get().is_none() {
            // Nothing to write, but the transaction would keep other processes from writing.
            drop(self.try_flush(self.progress.visible()));
        }
        if overgrown && let Some(checkpointer) = &self.checkpointer {
            checkpointer.sync_log();
            self.journal.borrow_mut().trim(self.progress.durable());
        }
    }

    fn is_flush_due(&self) -> bool {
        let Unflushed { bytes, .. } = &self.unflushed;
        // While the disk is nearly full, no more than one batch waits for its flush.
        let is_disk_low = || bytes.get() > 0 && self.disk.as_ref().is_some_and(|disk| !disk.is_accepting());
        bytes.get() >= FLUSH_BYTES || is_disk_low() || self.next_upkeep().is_some_and(|at| at <= real_time())
    }

    /// Returns when to call [`WritingConnection::after_batch`] if no batch comes before; `None` if everything is flushed.
    pub(crate) fn next_upkeep(&self) -> Option<Instant> {
        let Unflushed { since, flushed_at, .. } = &self.unflushed;
        if !self.reserve.is_held() {
            return Some(flushed_at.get() + FULL_DISK_PAUSE);
        }
        let due = since.get().map(|(first, last)| (first + FLUSH_EVERY).min(last + FLUSH_WHEN_IDLE));
        let wanted = self.progress.is_flush_wanted().then(|| flushed_at.get() + FLUSHES_FOR_READERS_EVERY);
        due.into_iter().chain(wanted).min()
    }

    /// Commits the open transaction, so that readers see its batches. On a full disk it uses the reserve, and takes no batch
    /// until there is room for the reserve again. Ends the process if the disk failed.
    pub(crate) fn flush(&self) {
        let last = self.journal.borrow().last_sequence();
        self.unflushed.flushed_at.set(real_time());
        let mut flushed = self.try_flush(last);
        if flushed.as_ref().is_err_and(StoreError::is_disk_full) && self.reserve.release() {
            flushed = self.open_transaction().map_err(StoreError::from).and_then(|()| self.try_flush(last));
        }
        match flushed {
            Ok(()) => {
                self.unflushed.bytes.set(0);
                self.unflushed.since.set(None);
                self.progress.set_visible(last);
                self.meters.count_flush(self.journal.borrow().backlog_bytes());
                let truncated = self
                    .checkpointer
                    .as_ref()
                    .is_some_and(|checkpointer| checkpointer.after_flush(self.connection.sqlite()));
                if truncated {
                    self.wipe_journal(last);
                }
                self.reserve.restore();
            }
            Err(error) if error.is_disk_full() => {
                self.progress.set_full();
                if let Err(error) = self.open_transaction() {
                    StoreError::from(error).exit_process();
                }
            }
            Err(error) => error.exit_process(),
        }
    }

    /// Overwrites the batches in the journal, after the log was truncated: they may contain texts that were erased since.
    fn wipe_journal(&self, last: u64) {
        let mut journal = self.journal.borrow_mut();
        journal.trim(last);
        if let Err(error) = journal.wipe_free() {
            tracing::warn!(%error, "Old batches in the journal could not be overwritten");
        }
    }

    fn try_flush(&self, last: u64) -> Result<(), StoreError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        let committed = || -> Result<(), TableError> {
            if last != self.progress.visible() {
                schema::put_last_batch(&self.connection, last, self.journal.borrow().last_checksum())?;
            }
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(())
        };
        Ok(committed()?)
    }

    /// Copies the database into a new file, a few pages at a time. `between` runs after each step, outside of any
    /// transaction; if it fails, the copy is aborted and its file removed.
    pub(crate) fn copy_to(
        &self,
        file: &Path,
        between: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let flush = || {
            self.flush();
            if self.progress.is_full() { Err(StoreError::DiskLow) } else { Ok(()) }
        };
        flush()?;
        copying::copy_in_use(self.connection.sqlite(), file, &mut || between().and_then(|()| flush()))
    }

    /// Flushes, stops the checkpoint thread and truncates the log.
    pub(crate) fn close(self) {
        self.flush();
        if let Some(checkpointer) = self.checkpointer {
            checkpointer.stop(self.connection.sqlite());
        }
        self.journal.borrow_mut().trim(self.progress.durable());
        self.progress.close();
    }
}

impl JournaledBatch<'_> {
    /// Commits the batch. It is durable when this returns. Returns the number of the last batch in the journal.
    pub(crate) fn commit(self) -> Result<u64, TableError> {
        self.database.commit_batch()?;
        Ok(self.database.journal.borrow().last_sequence())
    }
}

impl Drop for JournaledBatch<'_> {
    fn drop(&mut self) {
        if self.database.in_batch.get()
            && let Err(error) = self.database.roll_back()
        {
            // The next rollback or BEGIN fails too, which the writer handles.
            tracing::error!(%error, "A batch could not be undone");
        }
    }
}

fn disk_full() -> StoreError {
    let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
    StoreError::Backend(BackendError::new(BackendErrorKind::DiskFull, error))
}

#[expect(clippy::disallowed_methods, reason = "limits the age of a transaction in real time")]
fn real_time() -> Instant {
    Instant::now()
}

#[cfg(test)]
#[path = "writing_tests.rs"]
mod tests;

/// Metrics of the journal and of flushes.
struct JournalMeters {
    /// Syncs of the journal, one for each batch with changes.
    fsyncs: Counter,
    flushes: Counter,
    journal_bytes: Gauge,
}

impl JournalMeters {
    fn register() -> JournalMeters {
        JournalMeters {
            fsyncs: counter!("hermod_store_fsyncs_total"),
            flushes: counter!("hermod_store_flushes_total"),
            journal_bytes: gauge!("hermod_store_journal_bytes"),
        }
    }

    /// Counts a flush, and publishes the size of the batches that only the journal makes durable.
    #[expect(clippy::cast_precision_loss, reason = "a metric, exact up to 2^53")]
    fn count_flush(&self, journal_bytes: u64) {
        self.flushes.increment(1);
        self.journal_bytes.set(journal_bytes as f64);
    }
}
