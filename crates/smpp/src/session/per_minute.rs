//! Limits the number of protocol violations per minute.

use std::collections::VecDeque;

use super::Moment;

const MINUTE_MS: u64 = 60_000;

pub(super) struct PerMinute {
    max: u32,
    recent: VecDeque<Moment>,
}

impl PerMinute {
    pub(super) const fn new(max: u32) -> Self {
        PerMinute { max, recent: VecDeque::new() }
    }

    /// Counts one more and returns whether the limit is reached. Holds at most `max` times.
    pub(super) fn is_full_after(&mut self, now: Moment) -> bool {
        while self.recent.front().is_some_and(|first| now.ms_since(*first) >= MINUTE_MS) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        if u32::try_from(self.recent.len()).unwrap_or(u32::MAX) < self.max {
            return false;
        }
        self.recent.pop_front();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenth_violation_within_a_minute_reaches_the_limit() {
        let mut offences = PerMinute::new(10);
        for second in 0..9 {
            assert!(!offences.is_full_after(Moment(second * 1_000)));
        }
        assert!(offences.is_full_after(Moment(59_999)));
        assert!(!PerMinute::new(2).is_full_after(Moment(0)));
        assert!(PerMinute::new(1).is_full_after(Moment(0)));
    }

    #[test]
    fn flood_uses_bounded_memory() {
        let mut offences = PerMinute::new(10);
        for moment in 0..1_000 {
            assert_eq!(offences.is_full_after(Moment(moment)), moment >= 9);
            assert!(offences.recent.len() <= 10);
        }
    }

    #[test]
    fn violations_older_than_a_minute_do_not_count() {
        let mut offences = PerMinute::new(2);
        for minute in 0..5 {
            assert!(!offences.is_full_after(Moment(minute * MINUTE_MS)));
        }
    }
}
