//! Limits the log lines about a condition that may change back and forth every second.

use hermod_domain::time::Timestamp;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of log lines about one condition per [`WINDOW`].
const LINES_MAX: u32 = 4;
const WINDOW: Duration = Duration::from_secs(600);

/// Decides which changes of a condition are logged.
pub(crate) struct LogLimiter {
    inner: Mutex<Logged>,
}

/// What the log says at present.
struct Logged {
    good: bool,
    window_began: Timestamp,
    lines: u32,
}

impl LogLimiter {
    /// Starts with a good condition, which is not logged.
    pub(crate) fn good() -> LogLimiter {
        LogLimiter { inner: Mutex::new(Logged { good: true, window_began: Timestamp::EPOCH, lines: 0 }) }
    }

    /// Returns whether to log the condition now, and counts the line. True if the log says the opposite and the window
    /// has a line left. Call it whenever the condition is checked: a change that found no line left is logged in the next
    /// window if it still holds.
    pub(crate) fn should_log(&self, good: bool, now: Timestamp) -> bool {
        let mut logged = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.good == good {
            return false;
        }
        if now >= logged.window_began.plus(WINDOW) {
            *logged = Logged { good: logged.good, window_began: now, lines: 0 };
        }
        if logged.lines >= LINES_MAX {
            return false;
        }
        logged.good = good;
        logged.lines += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_that_changes_twice_a_second_is_logged_four_times_in_ten_minutes() {
        let limiter = LogLimiter::good();
        let start = Timestamp::from_millis(1_794_659_400_000);
        let mut logged = Vec::new();
        for half_seconds in 0..2 * 1_200 {
            let now = start.plus(Duration::from_millis(500 * half_seconds));
            if limiter.should_log(half_seconds % 2 == 1, now) {
                logged.push(half_seconds / 2);
            }
        }
        assert_eq!(logged, [0, 0, 1, 1, 600, 600, 601, 601]);
    }

    #[test]
    fn last_condition_of_a_window_is_logged_when_the_next_window_begins() {
        let limiter = LogLimiter::good();
        let start = Timestamp::from_millis(1_794_659_400_000);
        for good in [false, true, false, true, false] {
            limiter.should_log(good, start);
        }
        assert!(!limiter.should_log(false, start.plus(WINDOW / 2)), "the window has no line left");
        assert!(limiter.should_log(false, start.plus(WINDOW)), "it is still bad");
        assert!(!limiter.should_log(false, start.plus(WINDOW)));
    }
}
