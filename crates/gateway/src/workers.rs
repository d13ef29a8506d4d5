//! Owns the tasks of a gateway: every task has a name and is stopped with its group.

use crate::clock::within;
use std::future::Future;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The tasks of one running gateway.
#[derive(Clone, Default)]
pub struct Workers {
    tasks: TaskTracker,
    leaving: CancellationToken,
    stopping: CancellationToken,
}

impl Workers {
    /// Starts a task. It should end soon after [`Workers::stopping`] fires.
    pub fn spawn_named(&self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let name = name.into();
        #[expect(clippy::disallowed_methods, reason = "this is where tasks are started")]
        tokio::spawn(self.tasks.track_future(async move {
            tracing::debug!(task = name, "Task started");
            task.await;
            tracing::debug!(task = name, "Task ended");
        }));
    }

    /// Returns a group of tasks that can be stopped separately, and is stopped with this one.
    pub fn child(&self) -> Workers {
        Workers {
            tasks: TaskTracker::new(),
            leaving: self.leaving.child_token(),
            stopping: self.stopping.child_token(),
        }
    }

    /// Returns the token that fires when the tasks are to begin nothing new, before [`Workers::stopping`].
    pub fn leaving(&self) -> CancellationToken {
        self.leaving.clone()
    }

    pub fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// PendingQueries all tasks to finish what they have begun. Returns when they have ended, at the latest after this real time.
    pub async fn leave_within(&self, longest: Duration) {
        self.leaving.cancel();
        self.tasks.close();
        let _ = within(longest, self.tasks.wait()).await;
    }

    /// Stops all tasks and waits until they have ended.
    pub async fn stop(&self) {
        self.leaving.cancel();
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
