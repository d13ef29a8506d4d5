//! One table in memory: rows in the order of their keys, and an undo log of uncommitted changes.

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;

/// Rows by their primary key. A change that SQL would refuse, or that would hit no row, panics.
#[derive(Clone)]
pub(crate) struct Table<K, V> {
    rows: BTreeMap<K, V>,
    /// The previous values of changed rows, the latest change last.
    uncommitted: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Table<K, V> {
        Table { rows: BTreeMap::new(), uncommitted: Vec::new() }
    }
}

/// Reads go to the rows.
impl<K, V> Deref for Table<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.rows
    }
}

impl<K: Ord + Clone + Debug, V: Clone + Debug> Table<K, V> {
    /// Adds a row. Panics if the key has one.
    #[track_caller]
    pub(crate) fn add(&mut self, key: K, row: V) {
        if let Some(there) = self.rows.get(&key) {
            panic!("{} {key:?} is added and is there: {there:?}", type_name::<V>());
        }
        self.put(key, row);
    }

    /// Writes a row, new or not.
    pub(crate) fn put(&mut self, key: K, row: V) {
        let before = self.rows.insert(key.clone(), row);
        self.uncommitted.push((key, before));
    }

    /// Changes a row. Panics if there is none.
    #[track_caller]
    pub(crate) fn update(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        let Some(row) = self.rows.get_mut(key) else {
            panic!("{} {key:?} is updated and is not there", type_name::<V>());
        };
        self.uncommitted.push((key.clone(), Some(row.clone())));
        change(row);
    }

    /// Deletes a row and returns it. Panics if there is none.
    #[track_caller]
    pub(crate) fn delete(&mut self, key: &K) -> V {
        let Some(row) = self.rows.remove(key) else {
            panic!("{} {key:?} is deleted and is not there", type_name::<V>());
        };
        self.uncommitted.push((key.clone(), Some(row.clone())));
        row
    }

    /// Deletes these rows, all of which are there. Returns how many.
    pub(crate) fn delete_all(&mut self, keys: Vec<K>) -> usize {
        keys.iter().for_each(|key| drop(self.delete(key)));
        keys.len()
    }

    /// Deletes the rows that match. Returns how many.
    pub(crate) fn delete_where(&mut self, matches: impl Fn(&K, &V) -> bool) -> usize {
        let keys = self.rows.iter().filter(|(key, row)| matches(key, row));
        let keys = keys.map(|(key, _)| key.clone()).collect();
        self.delete_all(keys)
    }

    /// Keeps all changes so far.
    pub(crate) fn commit(&mut self) {
        self.uncommitted.clear();
    }

    /// Reverts all changes since the last commit.
    pub(crate) fn roll_back(&mut self) {
        while let Some((key, before)) = self.uncommitted.pop() {
            match before {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }

    /// Returns every row as text, in the order of their keys.
    pub(crate) fn dump(&self) -> Vec<String> {
        self.rows.iter().map(|(key, row)| format!("{key:?}: {row:?}")).collect()
    }
}
