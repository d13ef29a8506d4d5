//! An acceptance on its way to the writer, and from there to the record.

use hermod_engine::ops::Acceptance;
use std::sync::atomic::{AtomicU8, Ordering};

const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const CANCELLED: u8 = 2;

/// An acceptance in the writer's queue. Either the writer begins it or its caller cancels it, never both: a cancelled one is
/// not run, and the caller of one that was begun waits for its outcome.
pub(crate) struct QueuedAcceptance {
    pub acceptance: Acceptance,
    stage: AtomicU8,
}

impl QueuedAcceptance {
    pub(crate) fn new(acceptance: Acceptance) -> QueuedAcceptance {
        QueuedAcceptance { acceptance, stage: AtomicU8::new(QUEUED) }
    }

    /// Marks it as begun. May be called again after a rollback. Returns false if it was cancelled.
    pub(crate) fn begin(&self) -> bool {
        self.move_to(BEGUN) != CANCELLED
    }

    /// Cancels it. Returns false if the writer has begun it: it may succeed.
    pub(crate) fn cancel(&self) -> bool {
        self.move_to(CANCELLED) != BEGUN
    }

    /// Moves it to `stage` if it is still queued. Returns the stage before.
    fn move_to(&self, stage: u8) -> u8 {
        match self.stage.compare_exchange(QUEUED, stage, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) | Err(before) => before,
        }
    }
}
