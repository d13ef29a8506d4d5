//! Throttles log lines that a remote peer can cause: the first line of a kind is written at once, further ones are
//! counted, and the count is written once per interval.

use crate::time::Timestamp;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// Counts suppressed lines for a bounded number of kinds.
#[derive(Clone, Debug)]
pub struct LogThrottle<K> {
    interval: Duration,
    kinds_max: usize,
    kinds: HashMap<K, Counted>,
    /// Suppressed lines of kinds beyond `kinds_max`.
    others: u64,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    since: Timestamp,
    more: u64,
}

/// The number of suppressed lines of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuppressedLines<K> {
    /// `None` for all kinds beyond the limit.
    pub kind: Option<K>,
    pub times: u64,
}

impl<K: Copy + Eq + Hash> LogThrottle<K> {
    pub fn new(interval: Duration, kinds_max: usize) -> LogThrottle<K> {
        LogThrottle { interval, kinds_max, kinds: HashMap::new(), others: 0 }
    }

    /// Whether to write a line now. If not, the line is counted for [`LogThrottle::due`].
    pub fn should_log(&mut self, kind: K, now: Timestamp) -> bool {
        if let Some(counted) = self.kinds.get_mut(&kind) {
            counted.more += 1;
            return false;
        }
        if self.kinds.len() >= self.kinds_max {
            self.others += 1;
            return false;
        }
        self.kinds.insert(kind, Counted { since: now, more: 0 });
        true
    }

    /// Returns and resets counts that are at least an interval old. A kind without further lines is forgotten, so that
    /// its next line is written at once.
    pub fn due(&mut self, now: Timestamp) -> Vec<SuppressedLines<K>> {
        let interval = self.interval;
        let mut due = Vec::new();
        self.kinds.retain(|kind, counted| {
            if now.since(counted.since) < interval {
                return true;
            }
            let times = std::mem::take(&mut counted.more);
            counted.since = now;
            if times > 0 {
                due.push(SuppressedLines { kind: Some(*kind), times });
            }
            times > 0
        });
        if self.others > 0 {
            due.push(SuppressedLines { kind: None, times: std::mem::take(&mut self.others) });
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_790_000_000_000 + seconds * 1000)
    }

    #[test]
    fn first_line_is_written_and_further_ones_are_counted_per_interval() {
        let mut throttle = LogThrottle::new(Duration::from_secs(60), 10);
        let written = (0..3_000).filter(|_| throttle.should_log("a", at(0))).count();
        assert_eq!(written, 1);
        assert_eq!(throttle.due(at(59)), []);
        assert_eq!(throttle.due(at(60)), [SuppressedLines { kind: Some("a"), times: 2_999 }]);
        assert!(!throttle.should_log("a", at(61)), "repeated, so it is still counted");
        assert_eq!(throttle.due(at(120)), [SuppressedLines { kind: Some("a"), times: 1 }]);
        assert_eq!(throttle.due(at(180)), [], "it has stopped");
        assert!(throttle.should_log("a", at(181)), "and is news again");
    }

    #[test]
    fn kinds_beyond_the_limit_are_counted_together() {
        let mut throttle = LogThrottle::new(Duration::from_secs(60), 10);
        let written = (0..1_000).filter(|kind| throttle.should_log(*kind, at(0))).count();
        assert_eq!((written, throttle.kinds.len()), (10, 10));
        assert_eq!(throttle.due(at(1)), [SuppressedLines { kind: None, times: 990 }]);
        assert_eq!(throttle.due(at(60)), []);
        assert!(throttle.should_log(11, at(60)), "there is room again");
    }
}
