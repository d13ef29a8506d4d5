//! A token bucket on timestamps: it holds a burst and refills continuously. Limits the requests of customers and the
//! submits to carriers.
//!
//! The level is in thousandths of a token, so that a rate of `r` per second is exactly `r` units per millisecond,
//! without rounding.

use std::time::Duration;

use crate::time::Timestamp;

pub const PER_SECOND_MAX: u32 = 1_000_000;

const UNITS_PER_TOKEN: u64 = 1000;
/// The debt of a bucket, in bursts: more cannot have been admitted elsewhere in the time that news needs.
const DEBT_BURSTS_MAX: u64 = 16;

/// A rate per second and a burst, both 1 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    per_second: u32,
    burst: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rate and its burst must be between 1 and {PER_SECOND_MAX}")]
pub struct RateRefusal;

impl Rate {
    /// Makes a rate whose burst is one second's worth.
    pub fn per_second(per_second: u32) -> Result<Rate, RateRefusal> {
        let allowed = (1..=PER_SECOND_MAX).contains(&per_second);
        if allowed { Ok(Rate { per_second, burst: per_second }) } else { Err(RateRefusal) }
    }

    pub fn with_burst(self, burst: u32) -> Result<Rate, RateRefusal> {
        if (1..=PER_SECOND_MAX).contains(&burst) { Ok(Rate { burst, ..self }) } else { Err(RateRefusal) }
    }

    pub const fn get(self) -> u32 {
        self.per_second
    }

    pub const fn burst(self) -> u32 {
        self.burst
    }

    fn capacity_units(self) -> u64 {
        u64::from(self.burst) * UNITS_PER_TOKEN
    }
}

/// A token bucket. It never admits more than rate x time + burst, as long as the clock runs forward.
#[derive(Clone, Debug)]
pub struct Pace {
    rate: Rate,
    level_units: u64,
    /// What was charged beyond the level. It is paid first.
    debt_units: u64,
    /// The time of both.
    as_of: Timestamp,
}

impl Pace {
    /// Makes a full bucket.
    pub fn full(rate: Rate, now: Timestamp) -> Pace {
        Pace { rate, level_units: rate.capacity_units(), debt_units: 0, as_of: now }
    }

    /// Makes an empty bucket, for a restart after which the burst may just have been used.
    pub fn empty(rate: Rate, now: Timestamp) -> Pace {
        Pace { rate, level_units: 0, debt_units: 0, as_of: now }
    }

    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes one token. Fails with the time until there is one.
    pub fn admit(&mut self, now: Timestamp) -> Result<(), Duration> {
        self.refill(now);
        if let Some(left) = self.level_units.checked_sub(UNITS_PER_TOKEN) {
            self.level_units = left;
            return Ok(());
        }
        let missing_units = UNITS_PER_TOKEN - self.level_units + self.debt_units;
        Err(Duration::from_millis(missing_units.div_ceil(u64::from(self.rate.per_second))))
    }

    /// Takes up to `wanted` tokens and returns how many it took.
    pub fn take_up_to(&mut self, wanted: u32, now: Timestamp) -> u32 {
        let granted = wanted.min(self.remaining(now));
        self.level_units -= u64::from(granted) * UNITS_PER_TOKEN;
        granted
    }

    /// Takes `wanted` tokens, or none and returns false. `wanted` above the burst counts as the burst, which otherwise
    /// would never be admitted.
    pub fn take_all(&mut self, wanted: u32, now: Timestamp) -> bool {
        let wanted = wanted.min(self.rate.burst);
        if self.remaining(now) < wanted {
            return false;
        }
        self.level_units -= u64::from(wanted) * UNITS_PER_TOKEN;
        true
    }

    /// Takes tokens that were admitted elsewhere, whether they are there or not. What is missing is a debt.
    pub fn charge(&mut self, tokens: u32, now: Timestamp) {
        self.refill(now);
        let units = u64::from(tokens) * UNITS_PER_TOKEN;
        let missing = units.saturating_sub(self.level_units);
        self.level_units = self.level_units.saturating_sub(units);
        let debt_max = self.rate.capacity_units() * DEBT_BURSTS_MAX;
        self.debt_units = self.debt_units.saturating_add(missing).min(debt_max);
    }

    /// Returns the number of whole tokens in the bucket.
    pub fn remaining(&mut self, now: Timestamp) -> u32 {
        self.refill(now);
        u32::try_from(self.level_units / UNITS_PER_TOKEN).expect("no more than the burst")
    }

    /// Returns how long it takes to pay the debt that was left when the bucket was last used.
    pub fn debt_paid_in(&self) -> Duration {
        Duration::from_millis(self.debt_units.div_ceil(u64::from(self.rate.per_second)))
    }

    /// Changes the rate; the tokens stay, and so does a debt, up to the new burst.
    pub fn change_rate(&mut self, rate: Rate, now: Timestamp) {
        self.refill(now);
        self.rate = rate;
        self.level_units = self.level_units.min(rate.capacity_units());
        self.debt_units = self.debt_units.min(rate.capacity_units());
    }

    fn refill(&mut self, now: Timestamp) {
        let elapsed_ms = u64::try_from(now.since(self.as_of).as_millis()).unwrap_or(u64::MAX);
        let gained_units = elapsed_ms.saturating_mul(u64::from(self.rate.per_second));
        let paid_units = gained_units.min(self.debt_units);
        self.debt_units -= paid_units;
        let level_units = self.level_units.saturating_add(gained_units - paid_units);
        self.level_units = level_units.min(self.rate.capacity_units());
        // Also if the clock was set back: the bucket then refills from the new time on instead of stopping until the
        // old time is reached again.
        self.as_of = now;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn take_all_takes_all_or_nothing() {
        let mut pace = Pace::full(Rate::per_second(10).unwrap(), Timestamp::EPOCH);
        let taken: Vec<bool> =
            [4, 7, 6, 1].into_iter().map(|wanted| pace.take_all(wanted, Timestamp::EPOCH)).collect();
        assert_eq!(taken, [true, false, true, false]);
        assert!(!pace.take_all(49, Timestamp::from_millis(999)));
        assert!(pace.take_all(49, Timestamp::from_millis(1_000)), "a full bucket is enough for anything");
        assert_eq!(pace.remaining(Timestamp::from_millis(1_000)), 0);
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + ms)
    }

    fn rate(per_second: u32, burst: u32) -> Rate {
        Rate::per_second(per_second).and_then(|rate| rate.with_burst(burst)).unwrap()
    }

    /// Tries to admit at each time and compares the results: `+` if admitted, otherwise the wait in milliseconds.
    #[track_caller]
    fn check(rate: Rate, times_ms: &[i64], expect: &str) {
        let mut pace = Pace::full(rate, at(0));
        let results: Vec<String> = times_ms
            .iter()
            .map(|ms| match pace.admit(at(*ms)) {
                Ok(()) => "+".to_owned(),
                Err(wait) => wait.as_millis().to_string(),
            })
            .collect();
        assert_eq!(results.join(" "), expect);
    }

    #[test]
    fn burst_passes_and_then_one_per_interval() {
        check(rate(10, 3), &[0, 0, 0, 0, 99, 100, 100, 200], "+ + + 100 1 + 100 +");
    }

    #[test]
    fn waits_are_rounded_up_to_be_sufficient() {
        check(rate(3, 1), &[0, 0, 333, 334], "+ 334 1 +");
        check(rate(1_000_000, 1), &[0, 0, 1], "+ 1 +");
    }

    #[test]
    fn idle_bucket_never_holds_more_than_its_burst() {
        check(rate(10, 2), &[1_000_000_000, 1_000_000_000, 1_000_000_000], "+ + 100");
        let mut pace = Pace::full(rate(1_000_000, 1_000_000), Timestamp::from_millis(i64::MIN));
        assert_eq!(pace.take_up_to(u32::MAX, Timestamp::from_millis(i64::MAX)), 1_000_000);
    }

    #[test]
    fn clock_set_back_costs_no_more_than_the_usual_wait() {
        check(rate(10, 1), &[0, -3_600_000, -3_599_900], "+ 100 +");
    }

    #[test]
    fn take_up_to_takes_the_available_tokens() {
        let mut pace = Pace::full(rate(100, 50), at(0));
        assert_eq!(pace.take_up_to(30, at(0)), 30);
        assert_eq!(pace.take_up_to(30, at(0)), 20);
        assert_eq!(pace.take_up_to(30, at(9)), 0);
        assert_eq!(pace.remaining(at(10)), 1);
        assert_eq!(pace.take_up_to(30, at(100)), 10);
        assert_eq!(Pace::empty(rate(100, 50), at(0)).remaining(at(20)), 2);
    }

    #[test]
    fn tokens_that_were_charged_elsewhere_are_paid_before_any_is_admitted() {
        let mut pace = Pace::full(rate(10, 10), at(0));
        pace.charge(4, at(0));
        assert_eq!(pace.remaining(at(0)), 6);
        pace.charge(16, at(0));
        assert_eq!(pace.admit(at(0)), Err(Duration::from_millis(1_100)), "ten are owed");
        assert_eq!(pace.admit(at(1_099)), Err(Duration::from_millis(1)));
        assert_eq!(pace.admit(at(1_100)), Ok(()));
        pace.charge(u32::MAX, at(1_100));
        assert_eq!(pace.debt_paid_in(), Duration::from_secs(16));
        assert_eq!(pace.admit(at(1_100)), Err(Duration::from_millis(16_100)), "the debt has a limit");
        pace.change_rate(rate(1, 1), at(1_100));
        assert_eq!(pace.debt_paid_in(), Duration::from_secs(1), "a lower rate does not prolong it");
    }

    /// Three nodes that each admit all they can, and tell each other ten times a second, admit what one would.
    #[test]
    fn buckets_that_are_charged_for_each_other_keep_the_rate_together() {
        let mut nodes = [(); 3].map(|()| Pace::full(rate(100, 100), at(0)));
        let (mut admitted, mut untold) = ([0_u32; 3], [0_u32; 3]);
        for ms in 0..10_000 {
            for (index, pace) in nodes.iter_mut().enumerate() {
                let taken = pace.take_up_to(5, at(ms));
                admitted[index] += taken;
                untold[index] += taken;
            }
            if ms % 100 == 99 {
                for (index, pace) in nodes.iter_mut().enumerate() {
                    let others: u32 = (0..3).filter(|other| *other != index).map(|other| untold[other]).sum();
                    pace.charge(others, at(ms));
                }
                untold = [0; 3];
            }
        }
        let total: u32 = admitted.iter().sum();
        // Ten seconds and the burst of one bucket.
        assert!((1_000..=1_150).contains(&total), "{admitted:?}");
    }

    #[test]
    fn new_rate_keeps_the_tokens_in_the_bucket() {
        let mut pace = Pace::full(rate(100, 100), at(0));
        pace.change_rate(rate(10, 10), at(0));
        assert_eq!(pace.take_up_to(100, at(0)), 10);
        pace.change_rate(rate(1000, 1000), at(0));
        assert_eq!(pace.remaining(at(5)), 5);
    }

    #[test]
    fn rates_are_between_one_and_a_million() {
        for (per_second, allowed) in [(0, false), (1, true), (1_000_000, true), (1_000_001, false)] {
            assert_eq!(Rate::per_second(per_second).is_ok(), allowed, "{per_second}");
            assert_eq!(rate(1, 1).with_burst(per_second).is_ok(), allowed, "{per_second}");
        }
    }

    proptest! {
        #[test]
        fn admits_never_more_than_rate_times_time_plus_burst(
            per_second in 1_u32..=PER_SECOND_MAX,
            burst in 1_u32..2000,
            steps in prop::collection::vec((0_u64..500, 0_u32..3000), 1..200),
        ) {
            let mut pace = Pace::full(rate(per_second, burst), at(0));
            let (mut elapsed_ms, mut admitted) = (0, 0);
            for (step_ms, wanted) in steps {
                elapsed_ms += step_ms;
                let now = at(i64::try_from(elapsed_ms).unwrap());
                admitted += u64::from(pace.take_up_to(wanted, now));
                admitted += u64::from(pace.admit(now).is_ok());
                let allowed_thousandths = u64::from(per_second) * elapsed_ms + u64::from(burst) * 1000;
                prop_assert!(admitted * 1000 <= allowed_thousandths);
            }
        }

        #[test]
        fn caller_is_admitted_after_the_returned_wait(
            per_second in 1_u32..=PER_SECOND_MAX,
            times_ms in prop::collection::vec(-5_000_i64..5_000, 1..50),
        ) {
            let mut pace = Pace::full(rate(per_second, 1), at(0));
            for ms in times_ms {
                if let Err(wait) = pace.admit(at(ms)) {
                    prop_assert!(wait <= Duration::from_secs(1));
                    prop_assert_eq!(pace.clone().admit(at(ms).plus(wait)), Ok(()));
                }
            }
        }
    }
}
