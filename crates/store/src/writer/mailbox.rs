//! Passes the results of a commit from the writer to a link, all at once after the commit. It is bounded: the writer adds
//! at most as many parts as the link has granted slots, and one acknowledgement per receipt or MO message of the link.

use hermod_engine::ops::Handout;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    waiting: Mutex<Handout>,
    arrived: Notify,
}

impl Mailbox {
    /// Adds a handout and wakes the link.
    pub(crate) fn put(&self, handout: Handout) {
        let mut waiting = self.lock();
        if waiting.is_empty() {
            *waiting = handout;
        } else {
            waiting.jobs.extend(handout.jobs);
            waiting.recorded.extend(handout.recorded);
            waiting.received.extend(handout.received);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Waits for a handout and returns everything that was added since the last call.
    pub(crate) async fn take(&self) -> Handout {
        loop {
            let handout = self.take_now();
            if !handout.is_empty() {
                return handout;
            }
            self.arrived.notified().await;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Waits until there may be a handout.
    pub(crate) async fn arrival(&self) {
        if self.lock().is_empty() {
            self.arrived.notified().await;
        }
    }

    /// Returns everything that was added since the last call, without waiting.
    pub(crate) fn take_now(&self) -> Handout {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Handout> {
        // A panic elsewhere cannot leave the vectors half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
