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
#[path = "retry_tests.rs"]
mod tests;
