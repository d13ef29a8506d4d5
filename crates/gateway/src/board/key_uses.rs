//! When each API key was last used, and from where. In memory: after a restart the request log knows the uses before it.

use hermod_domain::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// The last request with the right secret of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub at: Timestamp,
    pub address: Option<IpAddr>,
}

/// The last use of each key. Bounded by the number of keys, because only right secrets are noted.
#[derive(Default)]
pub struct KeyUses(Mutex<HashMap<String, KeyUse>>);

impl KeyUses {
    pub fn note(&self, key: &str, at: Timestamp, address: Option<IpAddr>) {
        let used = KeyUse { at, address };
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match uses.get_mut(key) {
            Some(last) => *last = used,
            None => drop(uses.insert(key.to_owned(), used)),
        }
    }

    /// `None` if the key was not used since the gateway started.
    pub fn last(&self, key: &str) -> Option<KeyUse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_use_of_a_key_is_kept() {
        let uses = KeyUses::default();
        let at = |ms| Timestamp::from_millis(ms);
        assert_eq!(uses.last("k"), None);
        uses.note("k", at(1), Some(IpAddr::from([192, 0, 2, 1])));
        uses.note("k", at(2), None);
        assert_eq!(uses.last("k"), Some(KeyUse { at: at(2), address: None }));
        assert_eq!(uses.last("other"), None);
    }
}
