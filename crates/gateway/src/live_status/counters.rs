//! Counters for the hot path: totals shared by metrics and the operator, and a rate per second.

use crate::clock::Moment;
use metrics::Counter;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count since the start of the process.
pub(super) struct SharedCount {
    total: AtomicU64,
    counter: Counter,
}

impl SharedCount {
    pub(super) fn new(counter: Counter) -> SharedCount {
        SharedCount { total: AtomicU64::new(0), counter }
    }

    pub(super) fn add(&self, count: u64) {
        self.total.fetch_add(count, Ordering::Relaxed);
        self.counter.increment(count);
    }

    pub(super) fn get(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for SharedCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// The seconds that a rate is averaged over.
const SECONDS: u64 = 10;
/// One more, for the current second, which is not counted.
const BUCKETS: usize = 11;

/// Counts per second over the last seconds. One writer, any number of readers.
#[derive(Debug, Default)]
pub(super) struct PerSecond {
    /// The second in the upper 32 bits, the count in the lower.
    buckets: [AtomicU64; BUCKETS],
}

impl PerSecond {
    pub(super) fn add(&self, count: u32, now: Moment) {
        let second = now.0 / 1000;
        let bucket = &self.buckets[place_of(second)];
        let (known, counted) = parts(bucket.load(Ordering::Relaxed));
        let counted = if known == low(second) { counted.saturating_add(count) } else { count };
        bucket.store(u64::from(low(second)) << 32 | u64::from(counted), Ordering::Relaxed);
    }

    /// Returns the average of the last ten whole seconds, in tenths.
    pub(super) fn tenths(&self, now: Moment) -> u64 {
        let this = now.0 / 1000;
        (1..=SECONDS)
            .filter_map(|back| this.checked_sub(back))
            .map(|second| {
                let (known, counted) = parts(self.buckets[place_of(second)].load(Ordering::Relaxed));
                if known == low(second) { u64::from(counted) } else { 0 }
            })
            .sum()
    }
}

fn place_of(second: u64) -> usize {
    usize::try_from(second % 11).expect("less than eleven")
}

/// Seconds wrap after a century.
fn low(second: u64) -> u32 {
    u32::try_from(second & u64::from(u32::MAX)).expect("masked")
}

fn parts(bucket: u64) -> (u32, u32) {
    (low(bucket >> 32), low(bucket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_average_of_the_last_ten_whole_seconds() {
        let rate = PerSecond::default();
        let at = |ms| Moment(ms);
        assert_eq!(rate.tenths(at(0)), 0);
        rate.add(3, at(1_000));
        rate.add(4, at(1_999));
        assert_eq!(rate.tenths(at(1_999)), 0, "the second is not over");
        assert_eq!(rate.tenths(at(2_000)), 7);
        for second in 2..=30 {
            rate.add(5, at(second * 1000));
        }
        assert_eq!(rate.tenths(at(31_000)), 50);
        assert_eq!(rate.tenths(at(36_000)), 25);
        assert_eq!(rate.tenths(at(41_000)), 0);
    }
}
