//! Wakes an endpoint's task when there are more events, or ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(super) struct EndpointWakeup {
    woken: AtomicBool,
    pub(super) wake: Notify,
    /// Cancelled when the task is to finish its posts and end.
    pub(super) stopping: CancellationToken,
}

impl EndpointWakeup {
    /// `stopping`: cancelled when the gateway stops.
    pub(super) fn new(stopping: &CancellationToken) -> EndpointWakeup {
        EndpointWakeup {
            woken: AtomicBool::new(false),
            wake: Notify::new(),
            stopping: stopping.child_token(),
        }
    }

    pub(super) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Returns whether the task was woken since the last call.
    pub(super) fn take_wake(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }

    /// Ends the task: another node posts to the endpoint.
    pub(super) fn leave(&self) {
        self.take_wake();
        self.stopping.cancel();
    }
}
