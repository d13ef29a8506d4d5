//! When each API key was last used, and from where. In memory: after a restart the request log knows the uses before it. Several
//! nodes tell each other.

use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;

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
        let mut uses = self.0.lock();
        match uses.get_mut(key) {
            Some(before) => *before = noted,
            None => drop(uses.insert(key.to_owned(), noted)),
        }
    }

    /// Returns the uses that the other nodes do not know.
    pub fn take_new(&self) -> Vec<(String, KeyUse)> {
        let mut uses = self.0.lock();
        let new = uses.iter_mut().filter(|(_, noted)| !noted.is_sent);
        let sent = new.map(|(key, noted)| {
            noted.is_sent = true;
            (key.clone(), noted.last)
        });
        sent.collect()
    }

    /// Takes in what another node says.
    pub fn note_elsewhere(&self, told: Vec<(String, KeyUse)>) {
        let mut uses = self.0.lock();
        for (key, last) in told {
            if uses.get(&key).is_none_or(|known| known.last.at < last.at) {
                uses.insert(key, Noted { last, is_sent: true });
            }
        }
    }

    /// `None` if the key was not used since the gateway started.
    pub fn last(&self, key: &str) -> Option<KeyUse> {
        self.0.lock().get(key).map(|noted| noted.last)
    }
}

#[cfg(test)]
#[path = "key_uses_tests.rs"]
mod tests;
