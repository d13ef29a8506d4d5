//! Values in memory, one per account, with the changes of the current batch over them. Commands of one batch see each
//! other's changes; each changed value is written once, at the end of the batch; a rollback drops the changes.

use crate::maps::HashMap;
use hermod_domain::ids::AccountId;

pub struct Overlay<V> {
    durable: HashMap<AccountId, V>,
    /// What the current batch changed.
    changed: HashMap<AccountId, V>,
}

impl<V: Copy> Overlay<V> {
    pub fn over(durable: HashMap<AccountId, V>) -> Overlay<V> {
        Overlay { durable, changed: HashMap::default() }
    }

    pub fn get(&self, account: AccountId) -> Option<V> {
        self.changed.get(&account).or_else(|| self.durable.get(&account)).copied()
    }

    /// Returns the committed values, in order.
    pub fn rows(&self) -> Vec<(AccountId, V)> {
        let mut rows: Vec<(AccountId, V)> =
            self.durable.iter().map(|(account, value)| (*account, *value)).collect();
        rows.sort_by_key(|(account, _)| *account);
        rows
    }

    pub fn set(&mut self, account: AccountId, value: V) {
        self.changed.insert(account, value);
    }

    /// Returns what the current batch changed.
    pub fn changed(&self) -> impl Iterator<Item = (AccountId, V)> {
        self.changed.iter().map(|(account, value)| (*account, *value))
    }

    pub fn committed(&mut self) {
        self.durable.extend(self.changed.drain());
    }

    pub fn rolled_back(&mut self) {
        self.changed.clear();
    }
}
