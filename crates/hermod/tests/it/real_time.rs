//! Real time for tests that stand outside the product: processes, sockets and carriers do not follow a test's clock.

use std::time::{Duration, Instant};

/// How long something may take that should happen at once, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

#[expect(clippy::disallowed_methods, reason = "what is outside the product runs on real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Looks again and again until it is so. Blocks its thread.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
        block(POLL);
    }
}

/// Blocks its thread for `wait`.
#[expect(clippy::disallowed_methods, reason = "what is outside the product runs on real time")]
pub(crate) fn block(wait: Duration) {
    std::thread::sleep(wait);
}

/// Lets real time pass: sockets, disks and other processes keep it.
#[expect(
    clippy::disallowed_methods,
    reason = "what a test waits for here happens outside the gateway's clock"
)]
pub(crate) async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}
