//! Errors of the store. Each means that the operation was not done. Where the store cannot know whether a commit is
//! durable, it ends the process instead of returning an error.

use crate::journal::{JournalError, TWO_HISTORIES};
use hermod_engine::ops::{CatalogueRefusal, EntryRemoved, EntryUse, PostRefusal};
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store's queue is full ({0} operations are waiting); retry later")]
    QueueFull(usize),
    #[error("timed out while waiting for the store; nothing was done, retry later")]
    QueueTimeout,
    #[error("nothing was changed, because a ledger entry was rejected: {0}")]
    EntryRefused(PostRefusal),
    #[error("nothing was changed: another {kind} is named {name:?}; choose another name")]
    NameTaken { kind: String, name: String },
    #[error("{kind} {id} cannot be removed, because it was used", kind = .0.kind, id = .0.id)]
    EntryInUse(EntryUse),
    #[error("nothing was done: {0} meanwhile; retry later, with the setup as it is then")]
    EntryRemoved(#[from] EntryRemoved),
    #[error("this link was used before or has expired; request a new one")]
    LinkSpent,
    #[error("the request was accepted, declined or withdrawn before")]
    RequestEnded,
    #[error("the disk is nearly full; new messages are rejected until there is space again")]
    DiskLow,
    #[error("the store is shutting down")]
    Closed,
    #[error("the read took longer than 5 seconds and was stopped; request less at a time")]
    ReadTooLong,
    #[error("the gateway keeps no record; set `enabled = true` in the section [record] of its configuration")]
    RecordOff,
    #[error("a text search covers at most 7 days; request a shorter time range")]
    TextRangeTooLong,
    #[error(
        "the result has more than {0} rows; request longer intervals, a shorter time range or a single value"
    )]
    TooManyRows(usize),
    #[error("the store is on PostgreSQL; use the tools of PostgreSQL for copies of it")]
    NotEmbedded,
    #[error("another copy of the database is being made; retry when it has finished")]
    CopyInProgress,
    #[error(
        "not enough space for a copy in {folder}: {needed} bytes are needed, {free} are free; choose a folder on another disk"
    )]
    NoRoomForCopy { folder: PathBuf, needed: u64, free: u64 },
    #[error("database error: {0}")]
    Backend(BackendError),
    #[error("the record could not be written, and is behind; the log of the gateway says why")]
    RecordBehind,
    #[error(
        "the record is being checked after a start, or cannot be opened; messages are not affected. Retry later; the log of the gateway and hermod alarms say more"
    )]
    RecordUnavailable,
    #[error("{0} live feeds are open already; close one, or retry later")]
    TooManyWatchers(usize),
    #[error(
        "the address of the PostgreSQL server is not valid: {0}; write it as postgres://user:password@host:5432/database"
    )]
    Server(String),
    #[error("invalid data in the database: {0}")]
    Damaged(String),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0} is in use by another hermod process; stop that process, or use another data folder")]
    InUse(PathBuf),
    #[error(
        "another process runs as the node {0:?} on this database; stop it, or give this node another name in the section [node]"
    )]
    NodeInUse(String),
    #[error(
        "{0} writes to this database, and this gateway cannot reach it: the section [node] is missing or differs"
    )]
    WriterElsewhere(String),
    #[error("another node has declared this one dead, because its lease had expired")]
    DeclaredDead,
    #[error("the connection between nodes cannot be set up: {0}")]
    Nodes(String),
    #[error("the node that stores the messages was lost; it is not known whether it has done this")]
    OutcomeUnknown,
    #[error(
        "{path} was written by a newer release (schema {found}, this release supports {known}); use the newer release"
    )]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path} was written by an older release (schema {found}, this release needs {known}); start the gateway once to migrate it"
    )]
    TooOld { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{0} was made by a build from before the first release, which no release can read; nothing was changed in it. Start with an empty data folder, or an empty schema of the server: apply your provision files there, and top up the accounts"
    )]
    BeforeFirstRelease(PathBuf),
    #[error(
        "the data folder has {found} batches, but {acknowledged} were acknowledged: the last record of the journal is damaged, its newest file is missing, or the database was replaced by an older copy ({path} has the number); restore a backup, or run hermod journal salvage to continue with the data that is left"
    )]
    Behind { path: PathBuf, acknowledged: u64, found: u64 },
    #[error("{path} belongs to another history than hermod.db; {TWO_HISTORIES}")]
    OtherMark { path: PathBuf },
    #[error(
        "{path} belongs to another database: hermod.db is a copy that was never started, or was closed without a log; {TWO_HISTORIES}"
    )]
    OtherLog { path: PathBuf },
    #[error(
        "the disk of {folder} is full: a start needs about {needed} bytes, {free} are free. Nothing is lost; make room and start again"
    )]
    NoRoomToStart { folder: PathBuf, needed: u64, free: u64 },
    #[error(
        "the store on {0} is an unfinished copy; complete it with hermod copy-store, or remove it (drop the schema, or move hermod.db out of the folder)"
    )]
    UnfinishedCopy(String),
    #[error("hermod copy-store is copying the store on {0}; start again when it has ended")]
    BeingCopied(String),
    #[error(
        "the store on {place} is empty, and {} has an embedded store; copy it with hermod copy-store, or move hermod.db out of the folder to start with an empty store",
        folder.display()
    )]
    NotCopied { folder: PathBuf, place: String },
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Migration(#[from] MigrationError),
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> StoreError {
        let kind = match &error {
            error if error.is_disk_full() => BackendErrorKind::DiskFull,
            error if error.is_fatal() => BackendErrorKind::DiskFailed,
            _ => BackendErrorKind::Other,
        };
        StoreError::Backend(BackendError::new(kind, error))
    }
}

/// An error of the database itself, with the database's own text. Callers outside the crate cannot see which database
/// it came from.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BackendError {
    kind: BackendErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

/// What a database's error means to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendErrorKind {
    /// The disk is full. Nothing was written.
    DiskFull,
    DiskFailed,
    /// The database file is damaged.
    FileDamaged,
    /// Another process has the database locked.
    Busy,
    /// The store interrupted a read.
    Interrupted,
    /// The connection to the server was lost. Nothing was written.
    ConnectionLost,
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
            CatalogueRefusal::LinkSpent => StoreError::LinkSpent,
            CatalogueRefusal::RequestEnded => StoreError::RequestEnded,
            CatalogueRefusal::InUse(entry_use) => StoreError::EntryInUse(entry_use),
        }
    }
}

/// The exit code after the disk failed (sysexits.h: EX_IOERR).
const EXIT_DISK_FAILED: i32 = 74;

impl StoreError {
    pub(crate) fn damaged(what: impl std::fmt::Display) -> StoreError {
        StoreError::Damaged(what.to_string())
    }

    /// Returns an error of the database with this text, such as one that another node had.
    pub(crate) fn elsewhere(kind: BackendErrorKind, text: String) -> StoreError {
        StoreError::Backend(BackendError::new(kind, std::io::Error::other(text)))
    }

    /// Returns the error of a file that could not be written or synced.
    pub(crate) fn disk_failed(path: &Path, error: std::io::Error) -> StoreError {
        let error = std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        StoreError::Backend(BackendError::new(BackendErrorKind::DiskFailed, error))
    }

    /// Returns the error with the name of the file and what to do, if the file is damaged or no database. Any other error is
    /// unchanged.
    pub(crate) fn of_file(self, path: &Path) -> StoreError {
        match self {
            StoreError::Backend(BackendError { kind: BackendErrorKind::FileDamaged, error }) => {
                let sentence = format!(
                    "{}: {error}; the file was damaged or overwritten: restore a backup of it",
                    path.display()
                );
                StoreError::elsewhere(BackendErrorKind::FileDamaged, sentence)
            }
            error => error,
        }
    }

    /// Logs the error and ends the process with exit code 74. No caller is answered; the next start recovers what was
    /// stored.
    pub(crate) fn exit_process(&self) -> ! {
        tracing::error!(error = %self, "The store failed; stopping at once, so that nothing is acknowledged that is not stored");
        std::process::exit(EXIT_DISK_FAILED)
    }

    /// Whether the disk is full: nothing was written, and the same operation may succeed later.
    pub(crate) fn is_disk_full(&self) -> bool {
        self.is_backend(BackendErrorKind::DiskFull)
    }

    /// Whether the connection to the server was lost: nothing was written, and the same operation may succeed later.
    pub(crate) fn is_connection_lost(&self) -> bool {
        self.is_backend(BackendErrorKind::ConnectionLost)
    }

    /// Returns [`StoreError::ReadTooLong`] for a read that the store interrupted, and any other error unchanged.
    pub(crate) fn or_too_long(self) -> StoreError {
        if self.is_backend(BackendErrorKind::Interrupted) { StoreError::ReadTooLong } else { self }
    }

    /// Whether the disk itself failed, above all by a failed fsync. The process must end and recover from the log:
    /// a second fsync may report success for data that the first one lost.
    pub(crate) fn is_fatal(&self) -> bool {
        self.is_backend(BackendErrorKind::DiskFailed) || self.is_file_damaged()
    }

    /// Whether another process has the database locked.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_backend(BackendErrorKind::Busy)
    }

    /// Whether the database file is damaged.
    pub(crate) fn is_file_damaged(&self) -> bool {
        self.is_backend(BackendErrorKind::FileDamaged)
    }

    fn is_backend(&self, kind: BackendErrorKind) -> bool {
        matches!(self, StoreError::Backend(error) if error.kind == kind)
    }
}

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(
        "{place} has rows in the table {table}, and a store is copied into an empty schema only; name another one in the address (?schema=NAME), or drop it"
    )]
    NotEmpty { place: String, table: String },
    #[error(
        "{} has {file} of another embedded store, and a store is copied into a folder without one only; move hermod.db, hermod.mark and the files of the journal (journal-*) out of the folder", folder.display()
    )]
    FolderNotEmpty { folder: PathBuf, file: String },
    #[error(
        "{0} has an unfinished copy of another store, or of this one before it was changed; remove it (drop the schema, or move hermod.db out of the folder), and copy again"
    )]
    OtherCopy(String),
    #[error("{0} has a complete copy of this store already; start the gateway on it")]
    Complete(String),
    #[error(
        "{0} belongs to another pepper than this data folder; name another schema in the address (?schema=NAME), or drop it"
    )]
    OtherPepper(String),
    #[error(
        "the store on {0} belongs to another pepper than this data folder; copy pepper.key from a node that works with the store, or name it with [data] pepper_file or HERMOD_PEPPER"
    )]
    OtherPepperOfSource(String),
    #[error(
        "the store in {0} belongs to another pepper than the one that was found; copy pepper.key back from a backup of this folder, or name the right one with [data] pepper_file or HERMOD_PEPPER"
    )]
    OtherPepperOfFolder(String),
    #[error("the table {table} cannot be copied: {reason}")]
    UnknownTable { table: String, reason: String },
    #[error(
        "the copy differs from its source: {0}; remove it (drop the schema, or move hermod.db out of the folder), and copy again"
    )]
    Differs(String),
}

/// Why the schema was not migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    #[error(
        "{gateways} connected gateways know only schema {known}, and cannot work after migration {number}; stop or upgrade them first"
    )]
    OlderGateways { gateways: i64, known: i64, number: i64 },
    #[error(
        "migration {number} ({what}) must run before this release can use the store: stop all gateways of earlier releases, then run hermod migrate --contract"
    )]
    ContractPending { number: i64, what: &'static str },
}
