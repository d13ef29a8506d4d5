//! What a carrier did lately: its totals are noted from time to time, and the present ones less those of a while ago are
//! what happened since. Counting costs the links nothing that way.

use super::traffic::Traffic;
use crate::clock::Moment;
use std::collections::VecDeque;
use std::time::Duration;

/// What went over a carrier's links in the last minute, and in the last ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    pub minute: Traffic,
    pub five_minutes: Traffic,
    pub ten_minutes: Traffic,
    /// Everything before those ten minutes: what is usual.
    pub before: Traffic,
}

const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const TEN_MINUTES: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct History {
    fine: Notes,
    coarse: Notes,
}

impl Default for History {
    fn default() -> History {
        History {
            fine: Notes::new(Duration::from_secs(1), MINUTE),
            coarse: Notes::new(Duration::from_secs(10), TEN_MINUTES),
        }
    }
}

impl History {
    /// To be called about every second.
    pub(super) fn note(&mut self, totals: Traffic, now: Moment) {
        self.fine.note(totals, now);
        self.coarse.note(totals, now);
    }

    pub(super) fn recent(&self, totals: &Traffic, now: Moment) -> Recent {
        let before = self.coarse.at(now, TEN_MINUTES);
        Recent {
            minute: totals.since(&self.fine.at(now, MINUTE)),
            five_minutes: totals.since(&self.coarse.at(now, FIVE_MINUTES)),
            ten_minutes: totals.since(&before),
            before,
        }
    }

    /// The last minute begins now.
    pub(super) fn forget_minute(&mut self, totals: Traffic, now: Moment) {
        self.fine.first = totals;
        self.fine.noted.clear();
        self.fine.noted.push_back((now, totals));
    }
}

/// Totals at moments that are a step apart, as far back as is asked for.
#[derive(Debug)]
struct Notes {
    step: Duration,
    reach: Duration,
    /// Where counting began.
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
        // One that is old enough stays: it is what the present is held against.
        while self.noted.get(1).is_some_and(|(at, _)| at.plus(self.reach) <= now) {
            self.noted.pop_front();
        }
    }

    /// The totals of that long ago; those of the beginning if that is not so long ago.
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
    fn the_last_minutes_are_what_came_since() {
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
    fn a_clock_that_leaps_is_held_against_the_last_look_before() {
        let mut history = History::default();
        history.note(accepted(10), Moment(0));
        history.note(accepted(20), Moment(3_600_000));
        assert_eq!(history.recent(&accepted(25), Moment(3_600_500)).minute, accepted(15));
        history.note(accepted(30), Moment(3_660_000));
        assert_eq!(history.recent(&accepted(31), Moment(3_660_000)).minute, accepted(11));
    }

    #[test]
    fn a_minute_can_begin_anew() {
        let mut history = History::default();
        history.note(accepted(10), Moment(0));
        history.forget_minute(accepted(50), Moment(10_000));
        assert_eq!(history.recent(&accepted(51), Moment(11_000)).minute, accepted(1));
        assert_eq!(history.recent(&accepted(51), Moment(11_000)).ten_minutes, accepted(51));
    }
}
