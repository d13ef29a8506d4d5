//! How many connections one address holds. A caller who opens them all would otherwise leave none for anybody else.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that are open, by address. Bounded by the connections there may be.
#[derive(Clone, Default)]
pub(crate) struct Crowd(Arc<Mutex<HashMap<IpAddr, u32>>>);

/// One connection's place, given up when it is dropped.
pub(crate) struct Place {
    crowd: Crowd,
    address: IpAddr,
}

impl Crowd {
    /// Nothing if the address holds as many as it may already.
    pub(crate) fn enter(&self, address: IpAddr, most: u32) -> Option<Place> {
        let mut open = self.lock();
        let held = open.entry(address).or_default();
        if *held >= most {
            return None;
        }
        *held += 1;
        Some(Place { crowd: self.clone(), address })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.crowd.lock();
        let Some(held) = open.get_mut(&self.address) else { return };
        *held -= 1;
        if *held == 0 {
            open.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let crowd = Crowd::default();
        let (here, there) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = crowd.enter(here, 2).unwrap();
        let second = crowd.enter(here, 2).unwrap();
        assert!(crowd.enter(here, 2).is_none());
        let elsewhere = crowd.enter(there, 2);
        assert!(elsewhere.is_some(), "another address has its own");
        drop(first);
        let third = crowd.enter(here, 2);
        assert!(third.is_some());
        drop((second, third, elsewhere));
        assert!(crowd.lock().is_empty(), "nothing is kept of who has gone");
    }
}
