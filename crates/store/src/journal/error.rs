//! Errors of the journal: what is wrong, where, and what the operator can do.

use super::format::HistoryId;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What an operator does with files of two histories.
pub(crate) const TWO_HISTORIES: &str = "nothing was changed. The folder has files of two histories, such as a backup that was \
    copied over an older data folder. Move the whole folder away and copy the backup into an empty one; or, to go on with \
    hermod.db alone, move journal-*.log, hermod.mark, hermod.db-wal and hermod.db-shm away";

#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// Nothing was written. The same operation may succeed later.
    #[error("not enough disk space for a journal segment of {bytes} bytes in {folder}")]
    DiskFull { folder: PathBuf, bytes: u64 },
    /// Nothing was written.
    #[error("a batch of {bytes} bytes exceeds the limit of {max} bytes")]
    RecordTooLarge { bytes: usize, max: usize },
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("the journal failed before and accepts nothing more; restart the process to recover")]
    Failed,
    #[error("the journal has batches up to {last}, but only those up to {applied} are in the database")]
    NotApplied { last: u64, applied: u64 },
    #[error(
        "{path} belongs to another history: it has {found}, the database has {database}; {TWO_HISTORIES}"
    )]
    OtherHistory { path: PathBuf, found: HistoryId, database: HistoryId },
    #[error(
        "{path} does not continue the database: its batch {batch} is not the one that the database has; {TWO_HISTORIES}"
    )]
    OtherBatch { path: PathBuf, batch: u64 },
    #[error(
        "{path} was written by a newer release (journal format {found}, this release supports {known}); use the newer release"
    )]
    TooNew { path: PathBuf, found: u32, known: u32 },
    #[error("{0}")]
    Damaged(Damage),
}

/// Acknowledged batches that cannot be read, or a journal that does not belong to the state of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    pub(crate) kind: DamageKind,
    /// The first and the last batch that are lost.
    pub(crate) lost: (u64, u64),
    /// Up to this batch, the database has everything.
    pub(crate) applied: u64,
    /// The highest sequence of an intact batch that was found.
    pub(crate) last: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DamageKind {
    /// A record is broken, and intact ones follow.
    Record,
    /// The header of a segment is unreadable, but the segment has records.
    Header,
    /// A record or segment does not continue the one before it.
    Chain,
    /// A file is missing between two others, or between the database and the first record.
    Missing,
    /// A file cannot be read from the offset on, for this reason. It is not known which batches it has there.
    Unreadable(String),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, offset, (from, to)) = (self.path.display(), self.offset, self.lost);
        match &self.kind {
            DamageKind::Record => {
                write!(f, "{path} is damaged at byte {offset}: batches {from} to {to} are lost")?
            }
            DamageKind::Header => {
                write!(f, "the header of {path} is damaged: batches {from} to {to} cannot be read")?;
            }
            DamageKind::Chain => {
                write!(
                    f,
                    "{path} does not continue the batch before byte {offset}: batches {from} to {to} are not trusted"
                )?;
            }
            DamageKind::Missing => {
                write!(
                    f,
                    "{path} begins after a gap: batches {from} to {to} are missing, because a file of the journal before it is missing or the database is older than the journal"
                )?;
            }
            DamageKind::Unreadable(why) => write!(
                f,
                "{path} cannot be read at byte {offset} ({why}): batches from {from} on may be there"
            )?,
        }
        let (applied, without) = (self.applied, self.last.max(to).saturating_sub(self.applied));
        let folder = self.path.parent().unwrap_or(Path::new("."));
        write!(
            f,
            "; the database has all batches up to {applied}, and {without} follow. Restore a backup into an empty folder, or run: hermod journal salvage --data-dir {}. It keeps every intact batch before the damage",
            folder.display()
        )
    }
}

impl JournalError {
    /// Returns a function that adds the path to an I/O error.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> JournalError + use<> {
        let path = path.to_owned();
        move |error| JournalError::Io { path, error }
    }

    /// Whether the disk is full: nothing was changed, and the same operation may succeed later.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, JournalError::DiskFull { .. })
    }

    /// Whether the process must end: it is not known what a later start will find, and a second fsync may report success
    /// for data that the first one lost.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, JournalError::Io { .. } | JournalError::Failed)
    }
}

/// Whether an I/O error says that the disk, or the user's share of it, is full.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
