//! Work that only a few may do at a time, counted by who does it: exports of an account, live feeds of a user.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Exports at a time of one account. Those over all accounts count as one account.
pub const EXPORTS_MAX: u32 = 2;
/// Live feeds at a time of one user of the portal: more tabs than a person reads.
pub const FEEDS_MAX: u32 = 6;

/// The slots that are taken, by key.
pub struct Slots<K> {
    max: u32,
    taken: Arc<Mutex<HashMap<K, u32>>>,
}

/// One slot. Dropping it frees it.
pub struct Slot<K: Copy + Eq + Hash> {
    taken: Arc<Mutex<HashMap<K, u32>>>,
    key: K,
}

/// All slots of the key are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSlot;

impl<K: Copy + Eq + Hash> Slots<K> {
    /// Makes `max` slots for each key.
    pub fn of(max: u32) -> Slots<K> {
        Slots { max, taken: Arc::default() }
    }

    pub fn take(&self, key: K) -> Result<Slot<K>, NoSlot> {
        let mut taken = self.taken.lock();
        let count = taken.entry(key).or_default();
        if *count >= self.max {
            return Err(NoSlot);
        }
        *count += 1;
        Ok(Slot { taken: self.taken.clone(), key })
    }
}

impl<K: Copy + Eq + Hash> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_slots_and_a_dropped_one_is_free_again() {
        let slots = Slots::of(EXPORTS_MAX);
        let first = slots.take("alice").unwrap();
        let _second = slots.take("alice").unwrap();
        assert!(slots.take("alice").is_err());
        assert!(slots.take("bob").is_ok());
        drop(first);
        assert!(slots.take("alice").is_ok());
    }
}
