//! Telling a state in the log that may change to and fro: the first changes at once, and not a line a second after that.

use hermod_domain::time::Timestamp;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Lines about one state in a window of time. The state at the end of a window is told with the next one.
const LINES_MAX: u32 = 4;
const WINDOW: Duration = Duration::from_secs(600);

/// What the log says of a state that is good or bad.
pub(crate) struct ToldState {
    inner: Mutex<ReportStatus>,
}

struct ReportStatus {
    good: bool,
    window_began: Timestamp,
    lines: u32,
}

impl ToldState {
    /// Nobody needs to be told that all is well at the start.
    pub(crate) fn good() -> ToldState {
        ToldState { inner: Mutex::new(ReportStatus { good: true, window_began: Timestamp::EPOCH, lines: 0 }) }
    }

    /// Whether the log should have a line about this now. To be asked whenever the state is looked at.
    pub(crate) fn is_to_be_told(&self, good: bool, now: Timestamp) -> bool {
        let mut told = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if told.good == good {
            return false;
        }
        if now >= told.window_began.plus(WINDOW) {
            *told = ReportStatus { good: told.good, window_began: now, lines: 0 };
        }
        if told.lines >= LINES_MAX {
            return false;
        }
        told.good = good;
        told.lines += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_that_flaps_twice_a_second_is_told_four_times_in_ten_minutes() {
        let state = ToldState::good();
        let start = Timestamp::from_millis(1_794_659_400_000);
        let mut told = Vec::new();
        for half_seconds in 0..2 * 1_200 {
            let now = start.plus(Duration::from_millis(500 * half_seconds));
            if state.is_to_be_told(half_seconds % 2 == 1, now) {
                told.push(half_seconds / 2);
            }
        }
        assert_eq!(told, [0, 0, 1, 1, 600, 600, 601, 601]);
    }

    #[test]
    fn last_state_of_a_window_is_told_when_the_next_one_begins() {
        let state = ToldState::good();
        let start = Timestamp::from_millis(1_794_659_400_000);
        for good in [false, true, false, true, false] {
            state.is_to_be_told(good, start);
        }
        assert!(!state.is_to_be_told(false, start.plus(WINDOW / 2)), "the log says it is good, for now");
        assert!(state.is_to_be_told(false, start.plus(WINDOW)), "it is still bad");
        assert!(!state.is_to_be_told(false, start.plus(WINDOW)));
    }
}
