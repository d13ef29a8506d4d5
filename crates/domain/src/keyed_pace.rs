//! Rate limits for very many keys (addresses, recipients, number ranges) in bounded memory.
//!
//! Per key only one time is stored: when its allowance is full again. A key whose time has passed needs no entry, so
//! only recently used keys are held; at the bound, the key that would be full soonest is dropped, in the caller's
//! favour.

use crate::expiring::Expiring;
use crate::time::Timestamp;
use std::hash::Hash;
use std::time::Duration;

/// At most `most` at once; a used-up allowance is full again after `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub most: u32,
    pub per: Duration,
}

impl Allowance {
    fn share_ms(self) -> i64 {
        let per = i64::try_from(self.per.as_millis()).unwrap_or(i64::MAX);
        (per / i64::from(self.most.max(1))).max(1)
    }

    fn period_ms(self) -> i64 {
        self.share_ms().saturating_mul(i64::from(self.most))
    }
}

#[derive(Clone, Debug)]
pub struct KeyedPace<K> {
    /// When the allowance of a key is full again.
    full_at_ms: Expiring<K>,
}

impl<K: Copy + Eq + Hash> KeyedPace<K> {
    /// Holds at most `keys_max` keys.
    pub fn new(keys_max: usize) -> KeyedPace<K> {
        KeyedPace { full_at_ms: Expiring::new(keys_max) }
    }

    /// Takes one from the key's allowance. Fails with the time to wait if it is used up.
    pub fn admit(&mut self, key: K, allowance: Allowance, now: Timestamp) -> Result<(), Duration> {
        let now_ms = now.as_millis();
        let full_at = self.full_at(key, allowance, now_ms);
        if let Some(wait) = wait(full_at, allowance, now_ms) {
            // Stores the clamped time, in case the clock was set back.
            self.full_at_ms.update(key, full_at);
            return Err(wait);
        }
        self.full_at_ms.insert(key, full_at.saturating_add(allowance.share_ms()), now_ms);
        Ok(())
    }

    /// Returns the time until one can be taken from the key's allowance; `None` if it can be now. Takes nothing.
    pub fn wait(&self, key: K, allowance: Allowance, now: Timestamp) -> Option<Duration> {
        let now_ms = now.as_millis();
        wait(self.full_at(key, allowance, now_ms), allowance, now_ms)
    }

    /// Returns what is left of the key's allowance, and the time until it is full again.
    pub fn left(&self, key: K, allowance: Allowance, now: Timestamp) -> (u32, Duration) {
        let now_ms = now.as_millis();
        let spent_ms = self.full_at(key, allowance, now_ms).saturating_sub(now_ms);
        let left = allowance.period_ms().saturating_sub(spent_ms) / allowance.share_ms();
        (u32::try_from(left).unwrap_or(0), Duration::from_millis(spent_ms.unsigned_abs()))
    }

    /// Gives back one that was taken but not used.
    pub fn give_back(&mut self, key: K, allowance: Allowance) {
        if let Some(full_at) = self.full_at_ms.get(key) {
            self.full_at_ms.update(key, full_at.saturating_sub(allowance.share_ms()));
        }
    }

    pub fn len(&self) -> usize {
        self.full_at_ms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.full_at_ms.is_empty()
    }

    /// Returns when the allowance is full, at most one period from now: a clock that was set back must not lock a key
    /// out.
    fn full_at(&self, key: K, allowance: Allowance, now_ms: i64) -> i64 {
        let kept = self.full_at_ms.get(key).unwrap_or(now_ms);
        kept.clamp(now_ms, now_ms.saturating_add(allowance.period_ms()))
    }
}

fn wait(full_at_ms: i64, allowance: Allowance, now_ms: i64) -> Option<Duration> {
    let after = full_at_ms.saturating_add(allowance.share_ms());
    let over = after.saturating_sub(now_ms).saturating_sub(allowance.period_ms());
    (over > 0).then(|| Duration::from_millis(over.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE_PER_MINUTE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
    }

    /// Returns `+` if admitted, otherwise the wait in seconds.
    fn admit(pace: &mut KeyedPace<u32>, key: u32, seconds: i64) -> String {
        match pace.admit(key, THREE_PER_MINUTE, at(seconds)) {
            Ok(()) => "+".to_owned(),
            Err(wait) => wait.as_secs().to_string(),
        }
    }

    #[test]
    fn allowance_is_used_at_once_and_refills_gradually() {
        let mut pace = KeyedPace::new(10);
        let results: Vec<String> =
            [0, 0, 0, 0, 5, 20, 20, 100, 100, 100, 100].map(|second| admit(&mut pace, 1, second)).into();
        assert_eq!(results.join(" "), "+ + + 20 15 + 20 + + + 20");
        assert_eq!(admit(&mut pace, 2, 100), "+", "another key has its own");
    }

    #[test]
    fn remaining_allowance_is_read_without_taking_any() {
        let mut pace = KeyedPace::new(10);
        let left = |pace: &KeyedPace<u32>, second| {
            let (left, full_in) = pace.left(1, THREE_PER_MINUTE, at(second));
            (left, full_in.as_secs())
        };
        assert_eq!(left(&pace, 0), (3, 0));
        admit(&mut pace, 1, 0);
        admit(&mut pace, 1, 0);
        assert_eq!(left(&pace, 0), (1, 40));
        assert_eq!(left(&pace, 19), (1, 21));
        assert_eq!(left(&pace, 20), (2, 20));
    }

    #[test]
    fn returned_allowance_can_be_taken_again() {
        let mut pace = KeyedPace::new(10);
        for _ in 0..3 {
            assert_eq!(admit(&mut pace, 1, 0), "+");
        }
        pace.give_back(1, THREE_PER_MINUTE);
        assert_eq!(admit(&mut pace, 1, 0), "+");
        assert_eq!(admit(&mut pace, 1, 0), "20");
    }

    #[test]
    fn clock_set_back_does_not_lock_a_key_out() {
        let mut pace = KeyedPace::new(10);
        assert_eq!(admit(&mut pace, 1, 100_000), "+");
        assert_eq!(admit(&mut pace, 1, 0), "20", "treated as used up");
        assert_eq!(admit(&mut pace, 1, 20), "+");
    }

    #[test]
    fn a_tenth_of_the_keys_is_dropped_even_if_only_one_is_full() {
        let mut pace = KeyedPace::new(100);
        // Each key is full 20 seconds after its admission: from second 20 on, one is at each admission.
        for second in 0..2_000 {
            admit(&mut pace, u32::try_from(second).unwrap(), second / 5);
            assert!(pace.len() <= 100);
        }
        let (mut looks, mut before) = (0, pace.len());
        for second in 2_000..3_000 {
            admit(&mut pace, u32::try_from(second).unwrap(), second / 5);
            looks += u32::from(pace.len() <= before);
            before = pace.len();
        }
        assert!(looks <= 100, "{looks} looks at every key in 1000 admissions");
    }

    #[test]
    fn number_of_keys_is_bounded() {
        let mut pace = KeyedPace::new(100);
        for key in 0..10_000 {
            assert_eq!(admit(&mut pace, key, 0), "+");
            assert!(pace.len() <= 100);
        }
        // Keys that used most of their allowance are kept longest.
        let mut pace = KeyedPace::new(100);
        for _ in 0..3 {
            admit(&mut pace, 7, 0);
        }
        for key in 100..1_000 {
            admit(&mut pace, key, 0);
        }
        assert_eq!(admit(&mut pace, 7, 0), "20");
    }
}
