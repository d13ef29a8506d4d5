//! The log of the record: written to the disk little by little, and moved to the database file.

use crate::record::database::writing::RecordConnection;
use hermod_engine::tables::TableError;
use std::fs::File;
use std::sync::atomic::Ordering;

/// A checkpoint is made once the log has this many pages of 4 KiB. Few, because the store's commits wait for the disk while a
/// checkpoint is synced.
const PAGES_PER_CHECKPOINT: i32 = 1_024;
/// SQLite's file format: the header of the log, and of each page in it.
const LOG_HEADER: u64 = 32;
const LOG_PAGE: u64 = 24 + 4_096;

impl RecordConnection {
    /// Tells the disk to write the log, and moves the log to the database file if it is long.
    pub(crate) fn checkpoint_if_due(&self) -> Result<(), TableError> {
        let pages = self.log_pages.load(Ordering::Relaxed);
        self.begin_writing_log(pages);
        if pages >= PAGES_PER_CHECKPOINT {
            self.log_pages.store(0, Ordering::Relaxed);
            self.pages_begun.set(0);
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Makes the kernel begin to write what the last commit added to the log, without waiting. The sync of a checkpoint then has
    /// little left to do.
    fn begin_writing_log(&self, pages: i32) {
        let begun = self.pages_begun.replace(pages);
        // A shorter log was begun anew.
        let first = u64::try_from(if begun < pages { begun } else { 0 }).unwrap_or(0);
        let from = LOG_HEADER + first * LOG_PAGE;
        // The log is not locked, so a second descriptor does no harm. Without the advice it is written later.
        if let Ok(log) = File::open(&self.log) {
            let _ = rustix::fs::fadvise(&log, from, None, rustix::fs::Advice::DontNeed);
        }
    }

    /// Truncates the log.
    pub(crate) fn truncate_log(&self) -> Result<(), TableError> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}
