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
#[path = "log_throttle_tests.rs"]
mod tests;
