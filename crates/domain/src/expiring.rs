//! A map from keys to the time their entry expires, in a bounded amount of memory. At the bound, expired entries are
//! dropped first, then those that expire soonest.

use std::collections::HashMap;
use std::hash::Hash;

#[derive(Clone, Debug)]
pub struct Expiring<K> {
    keys_max: usize,
    expires_at_ms: HashMap<K, i64>,
}

impl<K: Copy + Eq + Hash> Expiring<K> {
    /// Holds at most `keys_max` keys, and at least one.
    pub fn new(keys_max: usize) -> Expiring<K> {
        Expiring { keys_max: keys_max.max(1), expires_at_ms: HashMap::new() }
    }

    /// Returns the expiry time of a key, also if it has passed.
    pub fn get(&self, key: K) -> Option<i64> {
        self.expires_at_ms.get(&key).copied()
    }

    /// Changes the expiry time of a key that is present; does nothing for any other.
    pub fn update(&mut self, key: K, expires_at_ms: i64) {
        if let Some(kept) = self.expires_at_ms.get_mut(&key) {
            *kept = expires_at_ms;
        }
    }

    /// Adds or replaces a key, dropping others at the bound.
    pub fn insert(&mut self, key: K, expires_at_ms: i64, now_ms: i64) {
        if let Some(kept) = self.expires_at_ms.get_mut(&key) {
            *kept = expires_at_ms;
            return;
        }
        if self.expires_at_ms.len() >= self.keys_max {
            self.make_room(now_ms);
        }
        self.expires_at_ms.insert(key, expires_at_ms);
    }

    pub fn len(&self) -> usize {
        self.expires_at_ms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.expires_at_ms.is_empty()
    }

    /// Drops at least a tenth of the keys, so that the cost of a full scan is spread over many insertions. Dropping
    /// only expired keys could cost a scan per insertion, if one key expires for each that is added.
    fn make_room(&mut self, now_ms: i64) {
        self.expires_at_ms.retain(|_, expires_at| *expires_at > now_ms);
        let kept_max = self.keys_max - (self.keys_max / 10).max(1);
        let Some(excess) = self.expires_at_ms.len().checked_sub(kept_max).filter(|excess| *excess > 0) else {
            return;
        };
        let mut times: Vec<i64> = self.expires_at_ms.values().copied().collect();
        let (_, limit, _) = times.select_nth_unstable(excess - 1);
        let limit = *limit;
        self.expires_at_ms.retain(|_, expires_at| *expires_at > limit);
    }
}

#[cfg(test)]
#[path = "expiring_tests.rs"]
mod tests;
