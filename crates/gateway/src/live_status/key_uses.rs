//! When each API key was last used, and from where. In memory: after a restart the request log knows the uses before it. Several
//! nodes tell each other.

use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last request with the right secret of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUse {
    pub at: Timestamp,
    pub address: Option<IpAddr>,
}

/// The last use of each key. Bounded by the number of keys, because only right secrets are noted.
#[derive(Default)]
pub struct KeyUses(Mutex<HashMap<String, Noted>>);

struct Noted {
    last: KeyUse,
    /// The other nodes were sent it.
    is_sent: bool,
}

impl KeyUses {
    pub fn note(&self, key: &str, at: Timestamp, address: Option<IpAddr>) {
        let noted = Noted { last: KeyUse { at, address }, is_sent: false };
        let mut uses = self.lock();
        match uses.get_mut(key) {
            Some(before) => *before = noted,
            None => drop(uses.insert(key.to_owned(), noted)),
        }
    }

    /// Returns the uses that the other nodes do not know.
    pub fn take_new(&self) -> Vec<(String, KeyUse)> {
        let mut uses = self.lock();
        let new = uses.iter_mut().filter(|(_, noted)| !noted.is_sent);
        let sent = new.map(|(key, noted)| {
            noted.is_sent = true;
            (key.clone(), noted.last)
        });
        sent.collect()
    }

    /// Takes in what another node says.
    pub fn note_elsewhere(&self, told: Vec<(String, KeyUse)>) {
        let mut uses = self.lock();
        for (key, last) in told {
            if uses.get(&key).is_none_or(|known| known.last.at < last.at) {
                uses.insert(key, Noted { last, is_sent: true });
            }
        }
    }

    /// `None` if the key was not used since the gateway started.
    pub fn last(&self, key: &str) -> Option<KeyUse> {
        self.lock().get(key).map(|noted| noted.last)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Noted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn use_on_another_node_counts_if_it_is_newer() {
        let [here, there] = [(); 2].map(|()| KeyUses::default());
        let at = |ms| Timestamp::from_millis(ms);
        there.note("k", at(5), None);
        there.note("other", at(1), None);
        here.note("k", at(3), None);
        here.note("other", at(2), None);
        here.note_elsewhere(there.take_new());
        assert_eq!(there.take_new(), [], "each use is sent once");
        let last = |key| here.last(key).map(|used| used.at);
        assert_eq!((last("k"), last("other")), (Some(at(5)), Some(at(2))));
        assert_eq!(here.take_new().len(), 1, "a use on another node is not sent back");
    }
}
