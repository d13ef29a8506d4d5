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
#[path = "pace_tests.rs"]
mod tests;
