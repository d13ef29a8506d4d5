//! The simulator's clock, sleeps and tasks. The simulator stands for the outside world, where time is real,
//! so it may ask the machine for it: here, and nowhere else in the crate.

use std::future::Future;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::task::JoinHandle;

/// The monotonic time now.
#[expect(clippy::disallowed_methods, reason = "the outside world runs on real time; this is its one clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Time since 1970, for the dates in receipts and for numbers that must differ between runs.
#[expect(clippy::disallowed_methods, reason = "the outside world runs on real time; this is its one clock")]
pub(crate) fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the machine's clock stands after 1970")
}

/// Sleeps until `at`. Wakes up to a millisecond late: that is the runtime's timer step.
pub(crate) async fn sleep_until(at: Instant) {
    tokio::time::sleep_until(at.into()).await;
}

/// Sleeps for `pause`.
pub(crate) async fn pause(pause: Duration) {
    sleep_until(now() + pause).await;
}

/// Starts a task. The caller keeps the handle and ends the task: nothing here runs without an owner.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place in this crate that starts tasks; handles are kept"
)]
pub(crate) fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task)
}
