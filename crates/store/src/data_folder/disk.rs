//! Free disk space and the size of the write-ahead log, shared by the writer, its callers and the checkpoint thread.

use super::log_limiter::LogLimiter;
use crate::error::StoreError;
use hermod_domain::time::Timestamp;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// The free space must exceed the low-water mark by this fraction of it (1/16) before messages are accepted again.
const REOPENING_FRACTION: u64 = 16;
/// Free space below which no write is tried after the disk was full.
const ROOM_TO_WRITE_BYTES: u64 = 1024 * 1024;

/// The disk of the data folder.
pub(crate) struct Disk {
    folder: PathBuf,
    /// Below this many free bytes no message is accepted, so that accepted messages can still be sent and settled.
    low_water_bytes: u64,
    accepting: AtomicBool,
    /// As of the last measurement.
    free_bytes: AtomicU64,
    time_ms: AtomicI64,
    /// Limits the log lines about low space, and about writes that failed for lack of space.
    space_log: LogLimiter,
    writes_log: LogLimiter,
    /// The size of the write-ahead log, and whether it exceeds its limit and could not be truncated.
    log_bytes: AtomicU64,
    log_overgrown: AtomicBool,
    /// The log and the journal still contain data that was erased: the log is to be truncated, the journal overwritten.
    truncation_requested: AtomicBool,
    /// The day of the last daily truncation, as a number.
    truncated_on: AtomicI64,
}

/// The last measurement of the free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    pub free_bytes: u64,
    /// Below this, new messages are rejected.
    pub low_water_bytes: u64,
    /// Whether new messages are accepted. Also false after a write failed for lack of space, until the next measurement.
    pub accepting: bool,
}

/// The size of the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSize {
    pub bytes: u64,
    /// Whether it exceeds its limit because a reader prevents its truncation.
    pub overgrown: bool,
}

impl Disk {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Measures the free space of the folder's disk.
    pub(crate) fn new(folder: PathBuf, low_water_bytes: u64) -> Disk {
        let disk = Disk {
            folder,
            low_water_bytes,
            accepting: AtomicBool::new(true),
            free_bytes: AtomicU64::new(u64::MAX),
            time_ms: AtomicI64::new(0),
            space_log: LogLimiter::good(),
            writes_log: LogLimiter::good(),
            log_bytes: AtomicU64::new(0),
            log_overgrown: AtomicBool::new(false),
            truncation_requested: AtomicBool::new(false),
            truncated_on: AtomicI64::new(0),
        };
        disk.measure();
        disk
    }

    /// Whether there is enough space to accept new messages.
    pub(crate) fn is_accepting(&self) -> bool {
        self.accepting.load(Ordering::Acquire)
    }

    /// Measures the free space and decides whether messages are accepted. Called every second, and after the log was
    /// truncated.
    pub(crate) fn measure(&self) {
        let free = match free_bytes(&self.folder) {
            Ok(free) => free,
            Err(error) => {
                tracing::warn!(%error, "Cannot measure the free disk space");
                return;
            }
        };
        self.free_bytes.store(free, Ordering::Release);
        // The margin prevents accepting from being switched on and off by every few bytes.
        let margin = if self.is_accepting() { 0 } else { self.low_water_bytes / REOPENING_FRACTION };
        let enough = free >= self.low_water_bytes + margin;
        self.accepting.store(enough, Ordering::Release);
        if !self.space_log.should_log(enough, self.time()) {
            return;
        }
        if enough {
            tracing::info!(free_bytes = free, "Disk space is available again; accepting messages");
        } else {
            tracing::error!(
                free_bytes = free,
                low_water_bytes = self.low_water_bytes,
                "The disk is nearly full; rejecting new messages until there is space again"
            );
        }
    }

    /// Whether a full disk has enough space again to retry a write.
    pub(crate) fn has_room_to_write(&self) -> bool {
        has_room_to_write(&self.folder)
    }

    pub(crate) fn space(&self) -> DiskSpace {
        DiskSpace {
            free_bytes: self.free_bytes.load(Ordering::Acquire),
            low_water_bytes: self.low_water_bytes,
            accepting: self.is_accepting(),
        }
    }

    /// Stops accepting messages, because a write failed for lack of space.
    pub(crate) fn mark_full(&self) {
        self.accepting.store(false, Ordering::Release);
    }

    /// Returns whether to log that writes succeed again, or fail for lack of space.
    pub(crate) fn should_log_writes(&self, succeed: bool) -> bool {
        self.writes_log.should_log(succeed, self.time())
    }

    /// Fails with [`StoreError::NoRoomForCopy`] if a copy would not fit, or would leave this store less than its low-water
    /// mark.
    pub(crate) fn check_room_for(&self, file: &Path, copy_bytes: u64) -> Result<(), StoreError> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let reserve = if share_a_disk(folder, &self.folder) { self.low_water_bytes } else { 0 };
        let free = free_bytes(folder)
            .map_err(|error| StoreError::File { path: folder.to_owned(), error: error.into() })?;
        let needed = copy_bytes.saturating_add(reserve);
        if free >= needed {
            return Ok(());
        }
        Err(StoreError::NoRoomForCopy { folder: folder.to_owned(), needed, free })
    }

    /// Records the size of the write-ahead log. Returns whether `overgrown` has changed.
    pub(crate) fn set_log_size(&self, bytes: u64, overgrown: bool) -> bool {
        self.log_bytes.store(bytes, Ordering::Relaxed);
        self.log_overgrown.swap(overgrown, Ordering::Relaxed) != overgrown
    }

    /// Makes the checkpoint thread truncate the log, also if it is small.
    pub(crate) fn request_truncation(&self) {
        self.truncation_requested.store(true, Ordering::Release);
    }

    /// Does the same as [`Disk::request_truncation`], at most once a day: for texts whose retention has ended.
    pub(crate) fn request_daily_truncation(&self, now: Timestamp) {
        let day = now.day().get();
        if self.truncated_on.swap(day, Ordering::AcqRel) != day {
            self.request_truncation();
        }
    }

    /// Whether a truncation was requested and has not been done.
    pub(crate) fn is_truncation_requested(&self) -> bool {
        self.truncation_requested.load(Ordering::Acquire)
    }

    /// Records that the log is empty.
    pub(crate) fn truncation_done(&self) {
        self.truncation_requested.store(false, Ordering::Release);
    }

    pub(crate) fn log_size(&self) -> LogSize {
        let bytes = self.log_bytes.load(Ordering::Relaxed);
        LogSize { bytes, overgrown: self.log_overgrown.load(Ordering::Relaxed) }
    }

    /// Records the time of a tick of [`crate::Store::tick`].
    pub(crate) fn set_time(&self, now: Timestamp) {
        self.time_ms.store(now.as_millis(), Ordering::Release);
    }

    /// Returns the time of the last tick, which advances while nothing can be written.
    pub(crate) fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.time_ms.load(Ordering::Acquire))
    }
}

/// Whether the disk of a folder has enough space for a write.
pub(crate) fn has_room_to_write(folder: &Path) -> bool {
    free_bytes(folder).is_ok_and(|free| free >= ROOM_TO_WRITE_BYTES)
}

/// Returns the free space of the disk of a folder.
pub(crate) fn free_bytes(folder: &Path) -> Result<u64, rustix::io::Errno> {
    rustix::fs::statvfs(folder).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether two paths are on the same file system. True also if neither can be examined.
fn share_a_disk(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|file| file.dev()).ok();
    device(one) == device(other)
}
