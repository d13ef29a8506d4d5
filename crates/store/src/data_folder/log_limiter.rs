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
#[path = "log_limiter_tests.rs"]
mod tests;
