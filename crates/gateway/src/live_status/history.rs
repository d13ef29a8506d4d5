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
#[path = "history_tests.rs"]
mod tests;
