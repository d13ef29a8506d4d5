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
#[path = "keyed_pace_tests.rs"]
mod tests;
