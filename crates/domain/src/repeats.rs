//! Things that a stranger can make happen as often as it likes, and that are worth a log line: the first of a kind is
//! written at once, those that follow are counted, and the count is written once per interval.

use crate::time::Timestamp;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// What happened how often, for a bounded number of kinds.
#[derive(Clone, Debug)]
pub struct Repeats<K> {
    interval: Duration,
    kinds_max: usize,
    kinds: HashMap<K, Counted>,
    /// Of kinds for which there was no room.
    others: u64,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    since: Timestamp,
    more: u64,
}

/// How often something happened beyond the line that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated<K> {
    /// `None` for everything there was no room for.
    pub kind: Option<K>,
    pub times: u64,
}

impl<K: Copy + Eq + Hash> Repeats<K> {
    pub fn new(interval: Duration, kinds_max: usize) -> Repeats<K> {
        Repeats { interval, kinds_max, kinds: HashMap::new(), others: 0 }
    }

    /// Notes that it happened. True: write a line. False: it is counted for [`Repeats::due`].
    pub fn note(&mut self, kind: K, now: Timestamp) -> bool {
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

    /// Takes out what was counted for an interval or longer. A kind that did not happen again is forgotten, so that its
    /// next time is written at once.
    pub fn due(&mut self, now: Timestamp) -> Vec<Repeated<K>> {
        let interval = self.interval;
        let mut due = Vec::new();
        self.kinds.retain(|kind, counted| {
            if now.since(counted.since) < interval {
                return true;
            }
            let times = std::mem::take(&mut counted.more);
            counted.since = now;
            if times > 0 {
                due.push(Repeated { kind: Some(*kind), times });
            }
            times > 0
        });
        if self.others > 0 {
            due.push(Repeated { kind: None, times: std::mem::take(&mut self.others) });
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
    fn first_is_written_and_the_rest_is_counted_once_per_interval() {
        let mut repeats = Repeats::new(Duration::from_secs(60), 10);
        let written = (0..3_000).filter(|_| repeats.note("a", at(0))).count();
        assert_eq!(written, 1);
        assert_eq!(repeats.due(at(59)), []);
        assert_eq!(repeats.due(at(60)), [Repeated { kind: Some("a"), times: 2_999 }]);
        assert!(!repeats.note("a", at(61)), "it goes on, so it is still counted");
        assert_eq!(repeats.due(at(120)), [Repeated { kind: Some("a"), times: 1 }]);
        assert_eq!(repeats.due(at(180)), [], "it has stopped");
        assert!(repeats.note("a", at(181)), "and is news again");
    }

    #[test]
    fn kinds_are_bounded_and_those_beyond_are_counted_together() {
        let mut repeats = Repeats::new(Duration::from_secs(60), 10);
        let written = (0..1_000).filter(|kind| repeats.note(*kind, at(0))).count();
        assert_eq!((written, repeats.kinds.len()), (10, 10));
        assert_eq!(repeats.due(at(1)), [Repeated { kind: None, times: 990 }]);
        assert_eq!(repeats.due(at(60)), []);
        assert!(repeats.note(11, at(60)), "there is room again");
    }
}
