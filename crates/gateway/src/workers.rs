//! Owns the tasks of a gateway: every task has a name and is stopped with its group.

use std::future::Future;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The tasks of one running gateway.
#[derive(Clone, Default)]
pub struct Workers {
    tasks: TaskTracker,
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
        Workers { tasks: TaskTracker::new(), stopping: self.stopping.child_token() }
    }

    pub fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// Stops all tasks and waits until they have ended.
    pub async fn stop(&self) {
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
