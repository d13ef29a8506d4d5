//! Real time for processes, sockets and simulated carriers, which do not follow the manual clock.

use std::time::{Duration, Instant};

/// The longest wait for what must happen. It only bounds a hang: how long things take depends on the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

#[expect(clippy::disallowed_methods, reason = "processes and sockets run on real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Polls until the condition holds. Blocks its thread.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
        block(POLL);
    }
}

/// Blocks its thread for `wait`.
#[expect(clippy::disallowed_methods, reason = "processes and sockets run on real time")]
pub(crate) fn block(wait: Duration) {
    std::thread::sleep(wait);
}

/// Sleeps in real time.
#[expect(clippy::disallowed_methods, reason = "sockets and processes run on real time")]
pub(crate) async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}
