//! The few facts that the writer and its callers both look at without asking each other.

use crate::embedded::hooks::{Absent, Bell, GivingUp};
use crate::embedded::outbox::Outboxes;
use arc_swap::ArcSwap;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::time::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

pub(crate) struct Shared {
    folder: PathBuf,
    /// Below this many free bytes nothing is accepted, so that what was accepted can still be finished.
    low_water_bytes: u64,
    accepting: AtomicBool,
    next_due_ms: AtomicI64,
    ticked_ms: AtomicI64,
    pub outboxes: Outboxes,
    /// What the writer goes by: whose a number is, and who is to be told how.
    pub catalogue: ArcSwap<Catalogue>,
    pub bell: Bell,
    pub absent: Absent,
    pub giving_up: GivingUp,
}

const NOTHING_DUE: i64 = i64::MAX;

impl Shared {
    pub(crate) fn new(folder: PathBuf, low_water_bytes: u64, outboxes: Outboxes) -> Shared {
        let shared = Shared {
            folder,
            low_water_bytes,
            accepting: AtomicBool::new(true),
            next_due_ms: AtomicI64::new(NOTHING_DUE),
            ticked_ms: AtomicI64::new(0),
            outboxes,
            catalogue: ArcSwap::default(),
            bell: Bell::default(),
            absent: Absent::default(),
            giving_up: GivingUp::default(),
        };
        shared.look_at_disk();
        shared
    }

    pub(crate) fn follow(&self, catalogue: Arc<Catalogue>) {
        self.catalogue.store(catalogue);
    }

    /// May new messages be accepted, as far as the disk goes?
    pub(crate) fn accepting(&self) -> bool {
        self.accepting.load(Ordering::Acquire)
    }

    /// Measures the free space. Called every second, and after the disk was found full.
    pub(crate) fn look_at_disk(&self) {
        let free = match rustix::fs::statvfs(&self.folder) {
            Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
            Err(error) => {
                tracing::warn!(%error, "The free disk space cannot be measured");
                return;
            }
        };
        let enough = free >= self.low_water_bytes;
        if self.accepting.swap(enough, Ordering::AcqRel) != enough {
            if enough {
                tracing::info!(free_bytes = free, "Disk space is back; accepting again");
            } else {
                tracing::error!(
                    free_bytes = free,
                    "The disk is nearly full; refusing new messages until space returns"
                );
            }
        }
    }

    pub(crate) fn disk_is_full(&self) {
        self.accepting.store(false, Ordering::Release);
    }

    pub(crate) fn next_due_is(&self, at: Option<Timestamp>) {
        self.next_due_ms.store(at.map_or(NOTHING_DUE, Timestamp::as_millis), Ordering::Release);
    }

    pub(crate) fn ticks(&self, now: Timestamp) {
        self.ticked_ms.store(now.as_millis(), Ordering::Release);
    }

    /// What time it is, as far as anybody has told, even while nothing can be written.
    pub(crate) fn ticked_at(&self) -> Timestamp {
        Timestamp::from_millis(self.ticked_ms.load(Ordering::Acquire))
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_due_ms.load(Ordering::Acquire) <= now.as_millis()
    }
}
