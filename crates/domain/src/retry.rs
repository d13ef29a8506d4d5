//! Retry schedules and backoff. Randomness is an argument: callers pass a random `u32`.

use std::time::Duration;

use crate::time::Timestamp;

const SECOND: Duration = Duration::from_secs(1);

/// A list of waits between attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    waits: Vec<Duration>,
    afterwards: AfterLast,
    /// The random deviation of a wait in either direction, so that attempts that failed together are not retried
    /// together.
    spread_percent: u8,
}

/// What follows the last wait of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLast {
    GiveUp,
    RepeatLast,
}

impl Schedule {
    /// `spread_percent` is at most 50, so that later waits are seldom shorter than earlier ones.
    pub fn new(waits: &[Duration], afterwards: AfterLast, spread_percent: u8) -> Schedule {
        assert!(spread_percent <= 50, "a spread of {spread_percent} percent is more than 50");
        Schedule { waits: waits.to_vec(), afterwards, spread_percent }
    }

    /// Returns the schedule for a part that a carrier rejected with a temporary error: 5 s, 30 s, 2 min, 10 min, then
    /// every 10 min until its validity ends.
    pub fn after_temporary_error() -> Schedule {
        let waits = [5 * SECOND, 30 * SECOND, 120 * SECOND, 600 * SECOND];
        Schedule::new(&waits, AfterLast::RepeatLast, 10)
    }

    /// Returns the schedule for a part whose recipient a carrier throttles while it accepts parts for others: 1 s, 5 s,
    /// 30 s, then every minute until its validity ends.
    pub fn after_throttled_recipient() -> Schedule {
        let waits = [SECOND, 5 * SECOND, 30 * SECOND, 60 * SECOND];
        Schedule::new(&waits, AfterLast::RepeatLast, 0)
    }

    /// Returns the schedule for a report that a customer's client did not accept: 30 s, 1, 5 and 15 min, then every
    /// hour until the report expires. The contract fixes these times, so they have no deviation.
    pub fn after_failed_report() -> Schedule {
        let waits = [30 * SECOND, 60 * SECOND, 300 * SECOND, 900 * SECOND, 3_600 * SECOND];
        Schedule::new(&waits, AfterLast::RepeatLast, 0)
    }

    /// Returns the schedule for a failed webhook: the given waits, and then no more attempts. The defaults are 50 s, 5
    /// min, 30 min, 3 h and 18 h.
    pub fn after_failed_post(waits: &[Duration]) -> Schedule {
        Schedule::new(waits, AfterLast::GiveUp, 10)
    }

    /// Returns the wait after the given number of failures, from 1; `None` after the last attempt.
    pub fn wait(&self, failures: u32, random: u32) -> Option<Duration> {
        let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
        let wait = match (self.waits.get(index), self.afterwards) {
            (Some(wait), _) => *wait,
            (None, AfterLast::RepeatLast) => *self.waits.last()?,
            (None, AfterLast::GiveUp) => return None,
        };
        let spread = wait * u32::from(self.spread_percent) / 100;
        Some(wait - spread + fraction(2 * spread, random))
    }

    /// Returns the longest possible wait.
    pub fn longest(&self) -> Duration {
        let longest = self.waits.iter().copied().max().unwrap_or_default();
        longest + longest * u32::from(self.spread_percent) / 100
    }

    /// Returns the time of the next attempt; `None` after the last attempt, or if it is not before `until`.
    pub fn next_at(&self, failures: u32, now: Timestamp, until: Timestamp, random: u32) -> Option<Timestamp> {
        let at = now.plus(self.wait(failures, random)?);
        (at < until).then_some(at)
    }
}

/// Exponential backoff with full jitter: each wait is drawn from the range between the floor and a ceiling that doubles
/// up to a limit. For reconnecting to a peer to which many others reconnect as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The shortest wait.
    pub floor: Duration,
    /// The ceiling of the first wait.
    pub first: Duration,
    /// The ceiling of all waits.
    pub max: Duration,
}

impl Backoff {
    /// Returns the wait after the given number of consecutive failures, from 1.
    pub fn wait(self, failures: u32, random: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let ceiling = self.first.saturating_mul(1 << doublings).min(self.max);
        self.floor + fraction(ceiling.saturating_sub(self.floor), random)
    }
}

/// Returns `random / 2^32` of a duration.
fn fraction(whole: Duration, random: u32) -> Duration {
    let nanos = (whole.as_nanos() * u128::from(random)) >> 32;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HALF: u32 = 1 << 31;

    #[track_caller]
    fn check(waits: impl IntoIterator<Item = Option<Duration>>, expect: &str) {
        let result: Vec<String> = waits
            .into_iter()
            .map(|wait| wait.map_or("over".to_owned(), |wait| wait.as_millis().to_string()))
            .collect();
        assert_eq!(result.join(" "), expect);
    }

    #[test]
    fn failed_report_is_retried_at_the_times_of_the_contract() {
        let schedule = Schedule::after_failed_report();
        for random in [0, HALF, u32::MAX] {
            let waits = (1..=6).map(|n| schedule.wait(n, random));
            check(waits, "30000 60000 300000 900000 3600000 3600000");
        }
    }

    #[test]
    fn throttled_recipient_is_retried_after_growing_waits() {
        let schedule = Schedule::after_throttled_recipient();
        check((1..=5).map(|n| schedule.wait(n, HALF)), "1000 5000 30000 60000 60000");
    }

    #[test]
    fn part_is_retried_after_growing_and_then_constant_waits() {
        let schedule = Schedule::after_temporary_error();
        check((1..=6).map(|n| schedule.wait(n, HALF)), "5000 30000 120000 600000 600000 600000");
        check((1..=4).map(|n| schedule.wait(n, 0)), "4500 27000 108000 540000");
        check((1..=4).map(|n| schedule.wait(n, u32::MAX)), "5499 32999 131999 659999");
        check([schedule.wait(u32::MAX, HALF)], "600000");
    }

    #[test]
    fn webhook_is_posted_six_times_within_a_day() {
        let usual = [50 * SECOND, 300 * SECOND, 1_800 * SECOND, 3 * 3_600 * SECOND, 18 * 3_600 * SECOND];
        let schedule = Schedule::after_failed_post(&usual);
        check((1..=6).map(|n| schedule.wait(n, HALF)), "50000 300000 1800000 10800000 64800000 over");
        check((1..=5).map(|n| schedule.wait(n, 0)), "45000 270000 1620000 9720000 58320000");
        check((1..=5).map(|n| schedule.wait(n, u32::MAX)), "54999 329999 1979999 11879999 71279999");
    }

    #[test]
    fn schedule_can_end() {
        let schedule = Schedule::new(&[SECOND, 60 * SECOND], AfterLast::GiveUp, 0);
        check((1..=4).map(|n| schedule.wait(n, 7)), "1000 60000 over over");
        check([Schedule::new(&[], AfterLast::RepeatLast, 0).wait(1, 7)], "over");
    }

    #[test]
    fn no_retry_after_the_end_of_validity() {
        let schedule = Schedule::after_temporary_error();
        let now = Timestamp::from_millis(1_750_000_000_000);
        let five_seconds_on = now.plus(5 * SECOND);
        assert_eq!(schedule.next_at(1, now, now.plus(6 * SECOND), HALF), Some(five_seconds_on));
        assert_eq!(schedule.next_at(1, now, five_seconds_on, HALF), None);
        assert_eq!(schedule.next_at(1, now, now, HALF), None);
    }

    #[test]
    fn backoff_doubles_up_to_its_limit() {
        let backoff = Backoff { floor: SECOND / 4, first: SECOND, max: 60 * SECOND };
        let longest = (1..=8).map(|n| Some(backoff.wait(n, u32::MAX)));
        check(longest, "999 1999 3999 7999 15999 31999 59999 59999");
        check([1, 5, u32::MAX].map(|n| Some(backoff.wait(n, 0))), "250 250 250");
        check([1, 2, u32::MAX].map(|n| Some(backoff.wait(n, HALF))), "625 1125 30125");
    }

    #[test]
    fn floor_above_the_range_is_the_wait() {
        let backoff = Backoff { floor: 300 * SECOND, first: SECOND, max: 60 * SECOND };
        check([1, 9].map(|n| Some(backoff.wait(n, u32::MAX))), "300000 300000");
    }

    proptest! {
        #[test]
        fn waits_stay_within_their_bounds(failures in any::<u32>(), random in any::<u32>()) {
            let backoff = Backoff { floor: SECOND, first: 2 * SECOND, max: 60 * SECOND };
            prop_assert!((SECOND..=60 * SECOND).contains(&backoff.wait(failures, random)));
            let wait = Schedule::after_temporary_error().wait(failures, random).unwrap();
            prop_assert!((4 * SECOND..=660 * SECOND).contains(&wait));
        }

        #[test]
        fn attempts_follow_one_another_until_the_end(randoms in prop::collection::vec(any::<u32>(), 1..600)) {
            let schedule = Schedule::after_temporary_error();
            let accepted = Timestamp::from_millis(1_750_000_000_000);
            let until = accepted.plus(72 * 3600 * SECOND);
            let mut now = accepted;
            for (failures, random) in (1..).zip(randoms) {
                let Some(next) = schedule.next_at(failures, now, until, random) else {
                    prop_assert!(until.since(now) <= 660 * SECOND);
                    break;
                };
                prop_assert!(now < next && next < until);
                now = next;
            }
        }
    }
}
