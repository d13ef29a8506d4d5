//! A cache of two generations: when the younger is full, the older is dropped as a whole. A hit saves a read of the
//! tables; a miss costs one.

use crate::maps::HashMap;
use std::borrow::Borrow;
use std::hash::Hash;

/// Entries of a generation. Two generations cover the parts in flight of a fast carrier.
const GENERATION: usize = 50_000;

pub struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    generation: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { young: HashMap::default(), old: HashMap::default(), generation: GENERATION }
    }
}

impl<K: Hash + Eq, V> Recent<K, V> {
    pub fn insert(&mut self, key: K, value: V) {
        self.old.remove(&key);
        if self.young.len() >= self.generation && !self.young.contains_key(&key) {
            std::mem::swap(&mut self.old, &mut self.young);
            self.young.clear();
        }
        self.young.insert(key, value);
    }

    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub fn contains<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if self.young.remove(key).is_none() {
            self.old.remove(key);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.young.iter().chain(&self.old)
    }

    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
#[path = "recent_tests.rs"]
mod tests;
