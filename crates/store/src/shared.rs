//! The few facts that the writer and its callers both look at without asking each other.

mod copies;
mod unconfirmed;
mod wakeup;

pub(crate) use copies::CopyRequest;

use crate::disk::Disk;
use crate::outboxes::Outboxes;
use arc_swap::ArcSwap;
use copies::Copies;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use unconfirmed::Unconfirmed;
use wakeup::Wakeup;

const NOTHING_DUE: i64 = i64::MAX;

pub(crate) struct Shared {
    pub disk: Arc<Disk>,
    next_due_ms: AtomicI64,
    pub outboxes: Outboxes,
    /// What the writer goes by: whose a number is, and who is to be told how.
    pub catalogue: ArcSwap<Catalogue>,
    pub wakeup: Wakeup,
    pub copies: Copies,
    pub unconfirmed: Unconfirmed,
}

impl Shared {
    pub(crate) fn new(disk: Arc<Disk>, outboxes: Outboxes) -> Shared {
        Shared {
            disk,
            next_due_ms: AtomicI64::new(NOTHING_DUE),
            outboxes,
            catalogue: ArcSwap::default(),
            wakeup: Wakeup::default(),
            copies: Copies::default(),
            unconfirmed: Unconfirmed::default(),
        }
    }

    /// When the first part that waits for a time is due.
    pub(crate) fn next_due_is(&self, at: Option<Timestamp>) {
        self.next_due_ms.store(at.map_or(NOTHING_DUE, Timestamp::as_millis), Ordering::Release);
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_due_ms.load(Ordering::Acquire) <= now.as_millis()
    }
}
