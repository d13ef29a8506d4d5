//! Counts submits in a sliding second: a burst over the edge of two clock seconds counts as one.

use std::collections::VecDeque;
use std::time::Duration;

/// A second, less a tolerance for timer steps and a busy machine, so that a gateway at its rate is not throttled.
const SECOND: Duration = Duration::from_millis(950);

/// Arrival times of the admitted submits of the last second.
#[derive(Debug, Default)]
pub(super) struct RateWindow {
    times: VecDeque<Duration>,
}

impl RateWindow {
    /// Returns whether a submit at `at` is within `max` per second. Only admitted submits count.
    pub(super) fn admits(&mut self, at: Duration, max: u32) -> bool {
        while self.times.front().is_some_and(|first| *first + SECOND <= at) {
            self.times.pop_front();
        }
        let admitted = u32::try_from(self.times.len()).is_ok_and(|count| count < max);
        if admitted {
            self.times.push_back(at);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submits_beyond_the_rate_are_rejected_in_any_sliding_second() {
        let mut rate_window = RateWindow::default();
        let mut admits = |ms: u64| rate_window.admits(Duration::from_millis(ms), 2);
        assert!(admits(900) && admits(900));
        assert!(!admits(900) && !admits(1100), "the second is not the clock's");
        assert!(!admits(1849));
        assert!(admits(1850) && admits(1850) && !admits(1850));
    }
}
