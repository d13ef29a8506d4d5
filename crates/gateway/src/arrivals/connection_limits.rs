//! Limits the connections of one address. One caller could otherwise open so many that none is left for anybody else.
//! Connections that have proven nothing yet (no request, no bind) have a lower limit of their own: they are what an
//! attacker can open for nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Open connections by address. Bounded by the connections there may be.
#[derive(Clone, Default)]
pub(crate) struct Crowd(Arc<Mutex<HashMap<IpAddr, Held>>>);

/// What one address may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerAddress {
    pub(crate) open_max: u32,
    /// Of those, connections that are half open.
    pub(crate) half_open_max: u32,
}

#[derive(Default)]
struct Held {
    open: u32,
    half_open: u32,
}

/// The place of one connection, freed when it is dropped. It is half open until [`Place::establish`].
pub(crate) struct Place {
    crowd: Crowd,
    address: IpAddr,
    is_half_open: AtomicBool,
}

impl Crowd {
    /// `None` if the address holds as many connections as it may.
    pub(crate) fn enter(&self, address: IpAddr, limits: PerAddress) -> Option<Place> {
        let mut held = self.lock();
        let of_address = held.entry(address).or_default();
        if of_address.open >= limits.open_max || of_address.half_open >= limits.half_open_max {
            return None;
        }
        of_address.open += 1;
        of_address.half_open += 1;
        Some(Place { crowd: self.clone(), address, is_half_open: AtomicBool::new(true) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The connection has sent a whole request, or is bound: it is half open no longer.
    pub(crate) fn establish(&self) {
        // Asked at every request of a connection, so without the lock.
        if self.is_half_open.load(Ordering::Relaxed) && self.is_half_open.swap(false, Ordering::Relaxed) {
            let mut held = self.crowd.lock();
            if let Some(held) = held.get_mut(&self.address) {
                held.half_open -= 1;
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.establish();
        let mut held = self.crowd.lock();
        let Some(of_address) = held.get_mut(&self.address) else { return };
        of_address.open -= 1;
        if of_address.open == 0 {
            held.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let crowd = Crowd::default();
        let limits = PerAddress { open_max: 2, half_open_max: 2 };
        let first = crowd.enter(HERE, limits).unwrap();
        let second = crowd.enter(HERE, limits).unwrap();
        assert!(crowd.enter(HERE, limits).is_none());
        let elsewhere = crowd.enter(THERE, limits);
        assert!(elsewhere.is_some(), "another address has its own");
        drop(first);
        let third = crowd.enter(HERE, limits);
        assert!(third.is_some());
        drop((second, third, elsewhere));
        assert!(crowd.lock().is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn half_open_connections_have_a_lower_limit_than_established_ones() {
        let crowd = Crowd::default();
        let limits = PerAddress { open_max: 3, half_open_max: 1 };
        let first = crowd.enter(HERE, limits).unwrap();
        assert!(crowd.enter(HERE, limits).is_none(), "one is half open");
        first.establish();
        first.establish();
        let second = crowd.enter(HERE, limits).unwrap();
        second.establish();
        let third = crowd.enter(HERE, limits).unwrap();
        third.establish();
        assert!(crowd.enter(HERE, limits).is_none(), "three are open");
        drop((first, second, third));
        let half_open = crowd.enter(HERE, limits);
        drop(half_open);
        assert!(crowd.enter(HERE, limits).is_some(), "a half open one that ends is counted no longer");
    }
}
