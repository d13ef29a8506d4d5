//! The room on the disk, and the size of the database's log: measured here, looked at by the writer, its callers and the
//! checkpoint thread.

mod log_limiter;

use crate::error::StoreError;
use hermod_domain::time::Timestamp;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use log_limiter::ToldState;

/// By this part of the low-water mark the free space must exceed it before messages are accepted again.
const REOPENING_FRACTION: u64 = 16;
/// After the disk was full: less free space than this is not worth a try.
const ROOM_TO_WRITE_BYTES: u64 = 1024 * 1024;

/// The disk of the data folder.
pub(crate) struct Disk {
    folder: PathBuf,
    /// Below this many free bytes nothing is accepted, so that what was accepted can still be finished.
    low_water_bytes: u64,
    accepting: AtomicBool,
    /// As it was last measured.
    free_bytes: AtomicU64,
    ticked_ms: AtomicI64,
    /// What the log says of the free space, and of writes that found none.
    told_room: ToldState,
    told_writes: ToldState,
    /// The size of the log file, and whether it is larger than it should be and could not be truncated.
    log_bytes: AtomicU64,
    log_overgrown: AtomicBool,
    /// Something was erased that the log still has.
    empty_log_wanted: AtomicBool,
}

/// What the last measurement of the free space found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    pub free_bytes: u64,
    /// Below this, new messages are refused.
    pub low_water_bytes: u64,
    /// Whether new messages are accepted. A write that found no room ends it until the next measurement, too.
    pub accepting: bool,
}

/// How large the write-ahead log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSize {
    pub bytes: u64,
    /// It is larger than it should be, because a reader keeps it from being truncated.
    pub overgrown: bool,
}

impl Disk {
    /// Measures the free space of the folder's disk for the first time.
    pub(crate) fn new(folder: PathBuf, low_water_bytes: u64) -> Disk {
        let disk = Disk {
            folder,
            low_water_bytes,
            accepting: AtomicBool::new(true),
            free_bytes: AtomicU64::new(u64::MAX),
            ticked_ms: AtomicI64::new(0),
            told_room: ToldState::good(),
            told_writes: ToldState::good(),
            log_bytes: AtomicU64::new(0),
            log_overgrown: AtomicBool::new(false),
            empty_log_wanted: AtomicBool::new(false),
        };
        disk.look();
        disk
    }

    /// May new messages be accepted, as far as the disk goes?
    pub(crate) fn accepting(&self) -> bool {
        self.accepting.load(Ordering::Acquire)
    }

    /// Measures the free space. Called every second, and after the disk was found full.
    pub(crate) fn look(&self) {
        let free = match free_bytes(&self.folder) {
            Ok(free) => free,
            Err(error) => {
                tracing::warn!(%error, "The free disk space cannot be measured");
                return;
            }
        };
        self.free_bytes.store(free, Ordering::Release);
        // Refused again at once would help nobody: a little more must be free to begin than to go on.
        let margin = if self.accepting() { 0 } else { self.low_water_bytes / REOPENING_FRACTION };
        let enough = free >= self.low_water_bytes + margin;
        self.accepting.store(enough, Ordering::Release);
        if !self.told_room.is_to_be_told(enough, self.ticked_at()) {
            return;
        }
        if enough {
            tracing::info!(free_bytes = free, "Disk space is back; accepting again");
        } else {
            tracing::error!(
                free_bytes = free,
                low_water_bytes = self.low_water_bytes,
                "The disk is nearly full; refusing new messages until space returns"
            );
        }
    }

    /// Whether a full disk has enough room again that writing is worth a try.
    pub(crate) fn has_room_to_write(&self) -> bool {
        free_bytes(&self.folder).is_ok_and(|free| free >= ROOM_TO_WRITE_BYTES)
    }

    pub(crate) fn space(&self) -> DiskSpace {
        DiskSpace {
            free_bytes: self.free_bytes.load(Ordering::Acquire),
            low_water_bytes: self.low_water_bytes,
            accepting: self.accepting(),
        }
    }

    /// A write has found no room.
    pub(crate) fn is_full(&self) {
        self.accepting.store(false, Ordering::Release);
    }

    /// Whether the log should have a line that writes find room, or find none.
    pub(crate) fn is_to_be_told_of_writes(&self, succeed: bool) -> bool {
        self.told_writes.is_to_be_told(succeed, self.ticked_at())
    }

    /// Refuses a copy that would not fit, or would leave the store itself too little room.
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

    /// The checkpoint thread measured the log.
    pub(crate) fn log_is(&self, bytes: u64, overgrown: bool) {
        self.log_bytes.store(bytes, Ordering::Relaxed);
        self.log_overgrown.store(overgrown, Ordering::Relaxed);
    }

    /// Has the checkpoint thread truncate the log, however small it is.
    pub(crate) fn want_empty_log(&self) {
        self.empty_log_wanted.store(true, Ordering::Release);
    }

    /// Whether the log is to be truncated. Asking takes the wish away.
    pub(crate) fn take_empty_log_wanted(&self) -> bool {
        self.empty_log_wanted.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn log_size(&self) -> LogSize {
        let bytes = self.log_bytes.load(Ordering::Relaxed);
        LogSize { bytes, overgrown: self.log_overgrown.load(Ordering::Relaxed) }
    }

    pub(crate) fn ticks(&self, now: Timestamp) {
        self.ticked_ms.store(now.as_millis(), Ordering::Release);
    }

    /// What time it is by the last tick, even while nothing can be written.
    pub(crate) fn ticked_at(&self) -> Timestamp {
        Timestamp::from_millis(self.ticked_ms.load(Ordering::Acquire))
    }
}

fn free_bytes(folder: &Path) -> Result<u64, rustix::io::Errno> {
    rustix::fs::statvfs(folder).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether two paths are on the same file system, as far as can be told.
fn share_a_disk(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|file| file.dev()).ok();
    device(one) == device(other)
}
