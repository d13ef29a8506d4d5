//! How many submits come in any one second. The second slides: a burst over the edge of two clock seconds counts.

use std::collections::VecDeque;
use std::time::Duration;

/// A second, less what a runtime's timer and a busy machine may take from a gateway that keeps to its rate.
const SECOND: Duration = Duration::from_millis(950);

/// When the submits of the last second came.
#[derive(Debug, Default)]
pub(super) struct RateWindow {
    times: VecDeque<Duration>,
}

impl RateWindow {
    /// One more comes at `at`. Says whether it is within `max` a second; only then does it count.
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
    fn any_second_has_room_for_so_many() {
        let mut rate_window = RateWindow::default();
        let mut admits = |ms: u64| rate_window.admits(Duration::from_millis(ms), 2);
        assert!(admits(900) && admits(900));
        assert!(!admits(900) && !admits(1100), "the second is not the clock's");
        assert!(!admits(1849));
        assert!(admits(1850) && admits(1850) && !admits(1850));
    }
}
