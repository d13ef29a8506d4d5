//! The files of an append-only journal. The writer appends one record per batch and acknowledges the batch when the record
//! is durable; the database follows behind.
//!
//! - [`open`] finds the records that the database lacks, [`Recovered::replay`] returns them. [`Journal::start`] then begins a new segment.
//! - [`Journal::append`] writes one record and waits until it is durable. One write is in flight at a time, so only the last
//!   record can be incomplete after a crash.
//! - [`Journal::trim`] releases the segments whose records the database has. Their files are used again.
//!
//! See docs/adr/0021-journal-files.md.

mod appending;
mod error;
mod files;
mod format;
mod pool;
mod recovery;
mod segments;

#[cfg(test)]
mod tests;

pub(crate) use appending::Journal;
pub(crate) use error::{Damage, DamageKind, JournalError, TWO_HISTORIES};
pub(crate) use files::OsFiles;
pub(crate) use format::{HistoryId, JournalBatch};
pub(crate) use recovery::{Position, Recovered, check, open, open_before_damage};
pub(crate) use segments::file_names;

/// Sizes of the journal's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalLimits {
    /// Size of the first segment. Each new one is twice as large as the one before, up to `segment_max`.
    pub(crate) first_segment: u64,
    /// A record that needs more gets a segment of its own size.
    pub(crate) segment_max: u64,
    /// Free files beyond this sum are removed.
    pub(crate) free_max: u64,
}

impl Default for JournalLimits {
    fn default() -> JournalLimits {
        JournalLimits { first_segment: 256 * 1024, segment_max: 16 * 1024 * 1024, free_max: 32 * 1024 * 1024 }
    }
}
