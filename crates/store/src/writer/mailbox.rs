//! How the writer hands work to a link: everything of one commit at once, after the commit. It cannot overflow: the
//! writer puts in no more parts than the link has granted slots for, and no more acknowledgements than the link has
//! asked for.

use hermod_engine::ops::Handout;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    waiting: Mutex<Handout>,
    arrived: Notify,
}

impl Mailbox {
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

    pub(crate) async fn take(&self) -> Handout {
        loop {
            let handout = self.take_now();
            if !handout.is_empty() {
                return handout;
            }
            self.arrived.notified().await;
        }
    }

    pub(crate) fn take_now(&self) -> Handout {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Handout> {
        // A panic elsewhere cannot leave the vectors half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
