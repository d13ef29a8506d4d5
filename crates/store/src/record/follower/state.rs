//! What the follower and the callers of the store share.

use crate::error::StoreError;
use crate::record::database::purging::RecordRetention;
use crate::record::tally::SharedCollected;
use crate::record::{Feed, LiveHub, RecordErasure, RecordStatus, RecordTrouble, real_time};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// The follower's state.
pub(crate) struct Following {
    pub hub: Arc<LiveHub>,
    pub collected: SharedCollected,
    /// Since when the follower has something that is not in the record.
    behind_since: Mutex<Option<Instant>>,
    /// Messages that still have to be read from the store.
    catching_up: AtomicU64,
    trouble: Mutex<Option<RecordTrouble>>,
    /// What is past its retention, until it is deleted.
    purge: Mutex<Option<RecordRetention>>,
    erasures: Mutex<Vec<Erasure>>,
    /// The record is to be deleted and filled again.
    is_rebuild_wanted: AtomicBool,
    answered: watch::Sender<Answered>,
}

/// What is to be erased in the record.
pub(super) struct Erasure {
    pub erased: RecordErasure,
    pub reply: oneshot::Sender<Result<u64, StoreError>>,
}

/// The last request to complete the record that was answered.
#[derive(Clone, Copy, Default)]
struct Answered {
    /// Its number, as [`Feed::request`] returned it.
    request: u64,
    has_failed: bool,
    /// The follower has ended.
    is_closed: bool,
}

impl Following {
    pub(crate) fn new() -> Following {
        Following {
            hub: Arc::default(),
            collected: SharedCollected::default(),
            behind_since: Mutex::default(),
            catching_up: AtomicU64::new(0),
            trouble: Mutex::default(),
            purge: Mutex::default(),
            erasures: Mutex::default(),
            is_rebuild_wanted: AtomicBool::new(false),
            answered: watch::Sender::default(),
        }
    }

    /// Returns how far the record is.
    pub(crate) fn status(&self, feed: &Feed) -> RecordStatus {
        let since = [*self.behind_since(), feed.since()].into_iter().flatten().min();
        RecordStatus {
            lag: since.map_or(Duration::ZERO, |since| real_time().saturating_duration_since(since)),
            catching_up: self.catching_up.load(Ordering::Relaxed),
            is_off: false,
            trouble: *lock(&self.trouble),
        }
    }

    /// Waits until everything that was committed before this call is in the record.
    pub(crate) async fn complete(&self, feed: &Feed) -> Result<(), StoreError> {
        let mut answered = self.answered.subscribe();
        let request = feed.request();
        let waited = answered.wait_for(|answered| answered.request >= request || answered.is_closed).await;
        match waited.map(|answered| *answered) {
            Ok(Answered { has_failed: true, .. }) => Err(StoreError::RecordBehind),
            Ok(Answered { request: last, .. }) if last >= request => Ok(()),
            Ok(_) | Err(_) => Err(StoreError::Closed),
        }
    }

    /// Makes the follower delete what is past its retention, a little with each flush.
    pub(crate) fn purge(&self, keep: RecordRetention) {
        *lock(&self.purge) = Some(keep);
    }

    pub(super) fn purge_wanted(&self) -> Option<RecordRetention> {
        *lock(&self.purge)
    }

    pub(super) fn purged(&self) {
        *lock(&self.purge) = None;
    }

    /// Erases in everything that was committed before this call. Returns in how many rows.
    pub(crate) async fn erase(&self, feed: &Feed, erased: RecordErasure) -> Result<u64, StoreError> {
        self.complete(feed).await?;
        let (reply, done) = oneshot::channel();
        lock(&self.erasures).push(Erasure { erased, reply });
        feed.request();
        done.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) fn take_erasures(&self) -> Vec<Erasure> {
        std::mem::take(&mut *lock(&self.erasures))
    }

    /// Makes the follower delete the record and fill it again from the store. It counts as catching up at once.
    pub(crate) fn rebuild(&self, feed: &Feed) {
        self.catching_up.fetch_max(1, Ordering::Relaxed);
        self.is_rebuild_wanted.store(true, Ordering::Release);
        feed.request();
    }

    /// Whether the record is to be deleted, since the last call.
    pub(super) fn takes_rebuild(&self) -> bool {
        self.is_rebuild_wanted.swap(false, Ordering::AcqRel)
    }

    /// Notes that the record lacks something since then.
    pub(super) fn set_behind(&self, since: Option<Instant>) {
        let mut behind = self.behind_since();
        *behind = [*behind, since].into_iter().flatten().min();
    }

    /// Notes that the record has everything that the follower took.
    pub(super) fn set_complete(&self) {
        *self.behind_since() = None;
    }

    pub(super) fn set_trouble(&self, trouble: Option<RecordTrouble>) {
        *lock(&self.trouble) = trouble;
    }

    pub(super) fn set_catching_up(&self, messages: u64) {
        self.catching_up.store(messages, Ordering::Relaxed);
    }

    /// Answers all requests up to this one.
    pub(super) fn answer(&self, request: u64, has_failed: bool) {
        self.answered.send_modify(|answered| {
            (answered.request, answered.has_failed) = (request, has_failed);
        });
    }

    /// Ends all waits and watches: the follower has ended.
    pub(super) fn close(&self) {
        drop(self.take_erasures());
        self.answered.send_modify(|answered| answered.is_closed = true);
        self.hub.close();
    }

    fn behind_since(&self) -> MutexGuard<'_, Option<Instant>> {
        lock(&self.behind_since)
    }
}

/// Locks it, also after a panic elsewhere: no holder leaves these values half changed.
fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
