//! Limits the connections of one address, so that one client cannot use up all of them. Half-open connections (no
//! request or bind yet) have a lower limit, because an attacker can open them at no cost.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Open connections by address. Bounded by the maximum number of connections.
#[derive(Clone, Default)]
pub(crate) struct ConnectionLimits(Arc<Mutex<HashMap<IpAddr, Held>>>);

/// The limits of one address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressLimits {
    pub(crate) open_max: u32,
    /// Half-open connections among them.
    pub(crate) half_open_max: u32,
}

#[derive(Default)]
struct Held {
    open: u32,
    half_open: u32,
}

/// The slot of one connection, freed when dropped. Half open until [`ConnectionSlot::establish`].
pub(crate) struct ConnectionSlot {
    connection_limits: ConnectionLimits,
    address: IpAddr,
    is_half_open: AtomicBool,
}

impl ConnectionLimits {
    /// Takes a slot. Returns `None` if the address is at a limit.
    pub(crate) fn enter(&self, address: IpAddr, limits: AddressLimits) -> Option<ConnectionSlot> {
        let mut held = self.0.lock();
        let of_address = held.entry(address).or_default();
        if of_address.open >= limits.open_max || of_address.half_open >= limits.half_open_max {
            return None;
        }
        of_address.open += 1;
        of_address.half_open += 1;
        Some(ConnectionSlot { connection_limits: self.clone(), address, is_half_open: AtomicBool::new(true) })
    }
}

impl ConnectionSlot {
    /// Marks the connection as established: it has sent a whole request, or is bound.
    pub(crate) fn establish(&self) {
        // Called for every request, so check without the lock first.
        if self.is_half_open.load(Ordering::Relaxed) && self.is_half_open.swap(false, Ordering::Relaxed) {
            let mut held = self.connection_limits.0.lock();
            if let Some(held) = held.get_mut(&self.address) {
                held.half_open -= 1;
            }
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.establish();
        let mut held = self.connection_limits.0.lock();
        let Some(of_address) = held.get_mut(&self.address) else { return };
        of_address.open -= 1;
        if of_address.open == 0 {
            held.remove(&self.address);
        }
    }
}

#[cfg(test)]
#[path = "connection_limits_tests.rs"]
mod tests;
