//! The recent traffic of a carrier: samples its counters periodically and subtracts an earlier sample from the current
//! values. The links pay nothing for it.

use super::traffic::Traffic;
use crate::clock::Moment;
use std::collections::VecDeque;
use std::time::Duration;

/// A carrier's traffic over recent periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    pub minute: Traffic,
    pub five_minutes: Traffic,
    pub ten_minutes: Traffic,
    /// Everything before those ten minutes: the usual traffic.
    pub before: Traffic,
    /// Since the carrier last accepted a part.
    pub since_accepted: Traffic,
}

const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const TEN_MINUTES: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct History {
    fine: Notes,
    coarse: Notes,
    /// The totals when the number of accepted parts last grew.
    last_accepted: Traffic,
}

impl Default for History {
    fn default() -> History {
        History {
            fine: Notes::new(Duration::from_secs(1), MINUTE),
            coarse: Notes::new(Duration::from_secs(10), TEN_MINUTES),
            last_accepted: Traffic::default(),
        }
    }
}

impl History {
    /// To be called about every second.
    pub(super) fn note(&mut self, totals: Traffic, now: Moment) {
        self.fine.note(totals, now);
        self.coarse.note(totals, now);
        if totals.accepted > self.last_accepted.accepted {
            self.last_accepted = totals;
        }
    }

    pub(super) fn recent(&self, totals: &Traffic, now: Moment) -> Recent {
        let before = self.coarse.at(now, TEN_MINUTES);
        let since_accepted = totals.since(&self.last_accepted);
        Recent {
            minute: totals.since(&self.fine.at(now, MINUTE)),
            five_minutes: totals.since(&self.coarse.at(now, FIVE_MINUTES)),
            ten_minutes: totals.since(&before),
            before,
            since_accepted: if since_accepted.accepted > 0 { Traffic::default() } else { since_accepted },
        }
    }

    /// Restarts the last minute now.
    pub(super) fn forget_minute(&mut self, totals: Traffic, now: Moment) {
        self.fine.first = totals;
        self.fine.noted.clear();
        self.fine.noted.push_back((now, totals));
    }
}

/// Samples of the totals, one per `step`, back to `reach`.
#[derive(Debug)]
struct Notes {
    step: Duration,
    reach: Duration,
    /// The totals at the beginning.
    first: Traffic,
    noted: VecDeque<(Moment, Traffic)>,
}

impl Notes {
    fn new(step: Duration, reach: Duration) -> Notes {
        Notes { step, reach, first: Traffic::default(), noted: VecDeque::new() }
    }

    fn note(&mut self, totals: Traffic, now: Moment) {
        if self.noted.back().is_some_and(|(last, _)| now < last.plus(self.step)) {
            return;
        }
        self.noted.push_back((now, totals));
        // Keep one sample that is old enough to subtract.
        while self.noted.get(1).is_some_and(|(at, _)| at.plus(self.reach) <= now) {
            self.noted.pop_front();
        }
    }

    /// Returns the totals of `back` ago; those of the beginning if there is no such sample.
    fn at(&self, now: Moment, back: Duration) -> Traffic {
        let old_enough = self.noted.partition_point(|(at, _)| at.plus(back) <= now);
        let found = old_enough.checked_sub(1).and_then(|place| self.noted.get(place));
        found.map_or(self.first, |(_, totals)| *totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(count: u64) -> Traffic {
        Traffic { accepted: count, ..Traffic::default() }
    }

    #[test]
    fn recent_traffic_is_the_difference_to_an_earlier_sample() {
        let mut history = History::default();
        assert_eq!(history.recent(&accepted(7), Moment(5)).minute, accepted(7), "since the start");
        // One a second, for a quarter of an hour.
        for second in 0..900 {
            history.note(accepted(second), Moment(second * 1000));
        }
        let recent = history.recent(&accepted(900), Moment(900_000));
        assert_eq!(recent.minute, accepted(60));
        assert_eq!(recent.five_minutes, accepted(300));
        assert_eq!(recent.ten_minutes, accepted(600));
        assert_eq!(recent.before, accepted(300));
        assert!(history.fine.noted.len() <= 62 && history.coarse.noted.len() <= 62);
    }

    #[test]
    fn after_a_gap_the_last_sample_before_it_counts() {
        let mut history = History::default();
        history.note(accepted(10), Moment(0));
        history.note(accepted(20), Moment(3_600_000));
        assert_eq!(history.recent(&accepted(25), Moment(3_600_500)).minute, accepted(15));
        history.note(accepted(30), Moment(3_660_000));
        assert_eq!(history.recent(&accepted(31), Moment(3_660_000)).minute, accepted(11));
    }

    #[test]
    fn traffic_since_the_last_accepted_part_is_counted_over_any_time() {
        let mut history = History::default();
        let failed = |accepted, timed_out| Traffic { accepted, timed_out, ..Traffic::default() };
        assert_eq!(history.recent(&failed(0, 3), Moment(0)).since_accepted, failed(0, 3), "since the start");
        history.note(failed(1, 3), Moment(1_000));
        for hour in 1..5_u64 {
            history.note(failed(1, 3 + hour), Moment(hour * 3_600_000));
        }
        let now = Moment(5 * 3_600_000);
        assert_eq!(history.recent(&failed(1, 8), now).since_accepted, failed(0, 5));
        assert_eq!(history.recent(&failed(2, 8), now).since_accepted, failed(0, 0), "accepted just now");
    }

    #[test]
    fn forget_minute_restarts_only_the_minute() {
        let mut history = History::default();
        history.note(accepted(10), Moment(0));
        history.forget_minute(accepted(50), Moment(10_000));
        assert_eq!(history.recent(&accepted(51), Moment(11_000)).minute, accepted(1));
        assert_eq!(history.recent(&accepted(51), Moment(11_000)).ten_minutes, accepted(51));
    }
}
