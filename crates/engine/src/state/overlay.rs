//! Values in memory, one per account or other key, with the changes of the current batch over them. Commands of one batch see each
//! other's changes; each changed value is written once, at the end of the batch; a rollback drops the changes.

use crate::maps::HashMap;
use hermod_domain::ids::AccountId;
use std::hash::Hash;

pub struct Overlay<V, K = AccountId> {
    durable: HashMap<K, V>,
    /// What the current batch changed.
    changed: HashMap<K, V>,
}

impl<V: Copy, K: Copy + Ord + Hash> Overlay<V, K> {
    pub fn over(durable: HashMap<K, V>) -> Overlay<V, K> {
        Overlay { durable, changed: HashMap::default() }
    }

    pub fn get(&self, key: K) -> Option<V> {
        self.changed.get(&key).or_else(|| self.durable.get(&key)).copied()
    }

    /// Returns the committed values, in order.
    pub fn rows(&self) -> Vec<(K, V)> {
        let mut rows: Vec<(K, V)> = self.durable.iter().map(|(key, value)| (*key, *value)).collect();
        rows.sort_by_key(|(key, _)| *key);
        rows
    }

    pub fn set(&mut self, key: K, value: V) {
        self.changed.insert(key, value);
    }

    /// Returns what the current batch changed.
    pub fn changed(&self) -> impl Iterator<Item = (K, V)> {
        self.changed.iter().map(|(key, value)| (*key, *value))
    }

    pub fn committed(&mut self) {
        self.durable.extend(self.changed.drain());
    }

    pub fn rolled_back(&mut self) {
        self.changed.clear();
    }
}
