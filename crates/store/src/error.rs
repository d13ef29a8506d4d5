//! How the store says that its surroundings failed. Each means the operation was certainly not
//! done: an outcome that cannot be known ends the process instead.

use hermod_engine::ops::{CatalogueRefusal, PostRefusal};
use std::error::Error;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store's queue is full ({0} operations waiting)")]
    QueueFull(usize),
    #[error("the store did not come to it in time; it was given up and not done")]
    QueueTimeout,
    #[error("nothing was changed, because a ledger entry was refused: {0}")]
    EntryRefused(PostRefusal),
    #[error("nothing was changed: another {kind} is named {name:?}; choose another name")]
    NameTaken { kind: String, name: String },
    #[error("the disk is nearly full; nothing is accepted until space returns")]
    DiskLow,
    #[error("the store is shutting down")]
    Closed,
    #[error("the read took longer than 5 seconds and was ended; ask for less at a time")]
    ReadTooLong,
    #[error("another copy of the database is being made; try again when it has ended")]
    CopyUnderWay,
    #[error(
        "{folder} has too little room for a copy: {needed} bytes are needed, {free} are free; name a folder on another disk"
    )]
    NoRoomForCopy { folder: PathBuf, needed: u64, free: u64 },
    #[error("the store refused: {0}")]
    Backend(BackendError),
    #[error("the data makes no sense: {0}")]
    Damaged(String),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0} is in use by another hermod process; stop that one first, or use another data folder")]
    InUse(PathBuf),
    #[error(
        "{path} was written by a newer release (schema {found}, this one knows {known}); use that release"
    )]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path} was written by an older release (schema {found}, this one needs {known}); start the gateway once to bring it up to date"
    )]
    TooOld { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the database knows of {found} commits, but {told} were acknowledged: its log is damaged or missing, or it was replaced by an older copy; restore a backup, or delete {path} to go on with what is there"
    )]
    Behind { path: PathBuf, told: u64, found: u64 },
}

/// An error of the database itself. It says what happened; only the store knows which database that is.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BackendError {
    kind: BackendErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

/// What a database's error means to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendErrorKind {
    /// There is no room. Nothing was written.
    DiskFull,
    /// The disk failed, or what is on it is damaged.
    DiskFailed,
    /// The store ended a read.
    Interrupted,
    Other,
}

impl BackendError {
    pub(crate) fn new(kind: BackendErrorKind, error: impl Error + Send + Sync + 'static) -> BackendError {
        BackendError { kind, error: Box::new(error) }
    }
}

impl From<CatalogueRefusal> for StoreError {
    fn from(refusal: CatalogueRefusal) -> StoreError {
        match refusal {
            CatalogueRefusal::Entry(refusal) => StoreError::EntryRefused(refusal),
            CatalogueRefusal::NameTaken { kind, name } => StoreError::NameTaken { kind, name },
        }
    }
}

/// The exit code after the disk failed (sysexits.h: EX_IOERR).
const EXIT_DISK_FAILED: i32 = 74;

impl StoreError {
    pub(crate) fn damaged(what: impl std::fmt::Display) -> StoreError {
        StoreError::Damaged(what.to_string())
    }

    /// The disk failed under us. Nobody may be told anything any more; the log on the disk decides at the next start.
    pub(crate) fn die(&self) -> ! {
        tracing::error!(fault = %self, "The store's disk failed; stopping at once so that nothing is acknowledged that is not stored");
        std::process::exit(EXIT_DISK_FAILED)
    }

    /// The disk is full: nothing was written, and the same operation may succeed later.
    pub(crate) fn is_disk_full(&self) -> bool {
        self.is_backend(BackendErrorKind::DiskFull)
    }

    /// A read that was ended because it took too long is told as such.
    pub(crate) fn or_too_long(self) -> StoreError {
        if self.is_backend(BackendErrorKind::Interrupted) { StoreError::ReadTooLong } else { self }
    }

    /// The disk itself failed (a failed fsync above all). What is on it now cannot be known from here: a second fsync
    /// may report success for data the first one lost. The process must end and recover from the log.
    pub(crate) fn is_fatal(&self) -> bool {
        self.is_backend(BackendErrorKind::DiskFailed)
    }

    fn is_backend(&self, kind: BackendErrorKind) -> bool {
        matches!(self, StoreError::Backend(fault) if fault.kind == kind)
    }
}
