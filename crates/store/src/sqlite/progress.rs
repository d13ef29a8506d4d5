//! How far the batches have come: in the journal, visible to readers of the database, durable in the database. Batches have
//! consecutive numbers, those of their records in the journal.

use crate::error::StoreError;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;

/// The numbers of batches that the writer, the readers and the checkpoint thread share.
#[derive(Default)]
pub(crate) struct BatchNumbers {
    /// The last batch in the journal. It may be acknowledged.
    committed: AtomicU64,
    /// The last batch that readers see.
    visible: AtomicU64,
    /// The last batch that the database has after a power failure.
    durable: AtomicU64,
    /// A reader waits for a flush.
    wanted: AtomicBool,
    /// The last flush failed for lack of disk space.
    full: AtomicBool,
    /// The writer has ended, and everything is visible.
    closed: AtomicBool,
    flushed: Notify,
    wake_writer: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl BatchNumbers {
    /// Sets all three numbers, when the database is opened.
    pub(super) fn start(&self, last: u64) {
        self.committed.store(last, Ordering::Release);
        self.visible.store(last, Ordering::Release);
        self.durable.store(last, Ordering::Release);
    }

    /// Sets how a waiting reader makes the writer flush.
    pub(crate) fn set_wake_writer(&self, wake: impl Fn() + Send + Sync + 'static) {
        // Set once, when the store is opened.
        let _ = self.wake_writer.set(Box::new(wake));
    }

    pub(super) fn set_committed(&self, last: u64) {
        self.committed.store(last, Ordering::Release);
    }

    /// Records a flush, and wakes the readers that wait for it.
    pub(super) fn set_visible(&self, last: u64) {
        self.visible.store(last, Ordering::Release);
        self.full.store(false, Ordering::Release);
        self.wanted.store(false, Ordering::Release);
        self.flushed.notify_waiters();
    }

    /// Records that a flush failed for lack of disk space. Waiting readers fail.
    pub(super) fn set_full(&self) {
        self.full.store(true, Ordering::Release);
        self.wanted.store(false, Ordering::Release);
        self.flushed.notify_waiters();
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    pub(super) fn set_durable(&self, last: u64) {
        self.durable.fetch_max(last, Ordering::AcqRel);
    }

    pub(super) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Whether a reader waits for a flush.
    pub(super) fn is_flush_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// Ends all waits: the writer has flushed for the last time.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.flushed.notify_waiters();
    }

    /// Waits until readers see every batch that was committed before this call. Fails with [`StoreError::DiskLow`] if the
    /// database cannot be written for lack of disk space.
    pub(crate) async fn wait_until_visible(&self) -> Result<(), StoreError> {
        let wanted = self.committed.load(Ordering::Acquire);
        let mut asked = false;
        loop {
            let flushed = self.flushed.notified();
            tokio::pin!(flushed);
            // From here on no flush is missed.
            flushed.as_mut().enable();
            if self.visible() >= wanted || self.closed.load(Ordering::Acquire) {
                return Ok(());
            }
            if asked && self.is_full() {
                return Err(StoreError::DiskLow);
            }
            asked = true;
            self.request_flush();
            flushed.await;
        }
    }

    /// Makes the writer flush soon.
    pub(crate) fn request_flush(&self) {
        if !self.wanted.swap(true, Ordering::AcqRel)
            && let Some(wake) = self.wake_writer.get()
        {
            wake();
        }
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
