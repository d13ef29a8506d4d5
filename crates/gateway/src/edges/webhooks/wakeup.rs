//! Wakes an endpoint's task when there are more events, or ends it. Work of an endpoint that may be going on.

use std::pin::Pin;
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

pub(super) type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Waits for the end of a task, and removes it. Without a task it waits for ever.
pub(super) async fn end_of<T>(task: &mut Option<Task<T>>) -> T {
    match task {
        Some(running) => {
            let outcome = running.await;
            *task = None;
            outcome
        }
        None => std::future::pending().await,
    }
}
