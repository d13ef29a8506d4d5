//! Work of an endpoint that may be going on.

use std::pin::Pin;

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
