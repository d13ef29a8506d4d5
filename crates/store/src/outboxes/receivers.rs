//! Which connections have a bind that takes reports, and since when the others have had none.

use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::BoundReceivers;
use hermod_engine::ops::RECEIVER_AWAY_MAX;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Receivers {
    known: Mutex<HashMap<ConnectionId, Presence>>,
    started_ms: AtomicI64,
}

#[derive(Clone, Copy)]
enum Presence {
    /// The number of open ports.
    Bound(usize),
    /// When the last port was closed.
    Left(Timestamp),
}

impl Receivers {
    /// At the start no connection has a receiver; all count as without one since `started`.
    pub(crate) fn new(started: Timestamp) -> Receivers {
        Receivers { known: Mutex::default(), started_ms: AtomicI64::new(started.as_millis()) }
    }

    /// Counts all connections as without a receiver since `now`.
    pub(super) fn begin(&self, now: Timestamp) {
        self.started_ms.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Counts a port of the connection as open.
    pub(super) fn add(&self, connection: ConnectionId) {
        let mut known = self.known();
        let presence = known.entry(connection).or_insert(Presence::Bound(0));
        *presence = match *presence {
            Presence::Bound(ports) => Presence::Bound(ports + 1),
            Presence::Left(_) => Presence::Bound(1),
        };
    }

    /// Counts a port of the connection as closed.
    pub(super) fn remove(&self, connection: ConnectionId, now: Timestamp) {
        let mut known = self.known();
        let Some(presence) = known.get_mut(&connection) else { return };
        *presence = match *presence {
            Presence::Bound(ports) if ports > 1 => Presence::Bound(ports - 1),
            Presence::Bound(_) => Presence::Left(now),
            Presence::Left(at) => Presence::Left(at),
        };
    }

    fn known(&self) -> MutexGuard<'_, HashMap<ConnectionId, Presence>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BoundReceivers for Receivers {
    fn away_since(&self, connection: ConnectionId, now: Timestamp) -> Option<Timestamp> {
        let since = match self.known().get(&connection) {
            Some(Presence::Bound(_)) => return None,
            Some(Presence::Left(at)) => *at,
            None => Timestamp::from_millis(self.started_ms.load(Ordering::Relaxed)),
        };
        (now.since(since) >= RECEIVER_AWAY_MAX).then_some(since)
    }

    fn is_bound(&self, connection: ConnectionId) -> bool {
        matches!(self.known().get(&connection), Some(Presence::Bound(_)))
    }
}

#[cfg(test)]
#[path = "receivers_tests.rs"]
mod tests;
