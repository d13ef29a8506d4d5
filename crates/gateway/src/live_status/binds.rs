//! The live binds of customers. A bind takes a slot of its connection when it is accepted and frees it when it ends.
//! The operator can read its status, probe it, or unbind it.

use super::bind_status::{BindSnapshot, BindStatus, NewBind, Order};
use super::trace::Trace;
use crate::clock::Moment;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_store::BindSlot;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The binds of each connection, oldest first.
type Live = HashMap<ConnectionId, Vec<Arc<BindStatus>>>;

/// Bounded by max_binds of each connection.
#[derive(Default)]
pub struct Binds {
    live: Arc<Mutex<Live>>,
    numbers: AtomicU64,
    /// The PDU traces of connections that are bound, traced, or were traced a short while ago.
    traces: Mutex<HashMap<ConnectionId, Arc<Trace>>>,
}

/// The connection has reached max_binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The slot of one bind. [`LiveBind::leave`] or dropping frees it.
pub struct LiveBind {
    live: Arc<Mutex<Live>>,
    figures: Arc<BindStatus>,
    /// The slot that counts on all nodes, if there are several.
    slot: Mutex<Option<BindSlot>>,
}

impl Binds {
    pub fn enter(&self, new: NewBind, max_binds: u32) -> Result<LiveBind, Full> {
        let mut live = self.live.lock();
        let of_connection = live.entry(new.connection).or_default();
        if of_connection.len() >= as_count(max_binds) {
            return Err(Full);
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let figures = Arc::new(BindStatus::new(number, new));
        of_connection.push(figures.clone());
        Ok(LiveBind { live: self.live.clone(), figures, slot: Mutex::default() })
    }

    /// Whether the connection has reached max_binds on this node.
    pub fn is_full(&self, connection: ConnectionId, max_binds: u32) -> bool {
        self.live.lock().get(&connection).is_some_and(|binds| binds.len() >= as_count(max_binds))
    }

    /// Returns the oldest bind from this address.
    pub fn oldest_from(&self, connection: ConnectionId, peer: IpAddr) -> Option<Arc<BindStatus>> {
        let live = self.live.lock();
        live.get(&connection)?.iter().find(|bind| bind.began.peer == peer).cloned()
    }

    pub fn find(&self, number: u64) -> Option<Arc<BindStatus>> {
        self.live.lock().values().flatten().find(|bind| bind.number == number).cloned()
    }

    pub fn of_connection(&self, connection: ConnectionId) -> Vec<Arc<BindStatus>> {
        self.live.lock().get(&connection).cloned().unwrap_or_default()
    }

    /// Unbinds all binds of a connection.
    pub fn unbind_all(&self, connection: ConnectionId) {
        self.of_connection(connection).iter().for_each(|bind| bind.order(Order::Unbind));
    }

    /// Returns the status of all binds, oldest first.
    pub fn show(&self, now: Moment) -> Vec<BindSnapshot> {
        let live: Vec<_> = self.live.lock().values().flatten().cloned().collect();
        let mut shown: Vec<_> = live.iter().map(|bind| bind.show(now)).collect();
        shown.sort_by_key(|bind| bind.number);
        shown
    }

    /// Returns the PDU trace of a connection's binds, and makes one if there is none. It outlives them.
    pub fn open_trace(&self, connection: ConnectionId) -> Arc<Trace> {
        self.traces.lock().entry(connection).or_default().clone()
    }

    pub fn find_trace(&self, connection: ConnectionId) -> Option<Arc<Trace>> {
        self.traces.lock().get(&connection).cloned()
    }

    /// Ends expired traces and forgets those that neither have lines nor are used by a bind. To be called about every second.
    pub fn expire_traces(&self, now: Timestamp) {
        self.traces.lock().retain(|_, trace| !trace.expire(now) || Arc::strong_count(trace) > 1);
    }

    /// Returns the traces that there are.
    pub fn traces(&self) -> Vec<(ConnectionId, Arc<Trace>)> {
        self.traces.lock().iter().map(|(id, trace)| (*id, trace.clone())).collect()
    }

    pub fn count(&self) -> usize {
        self.live.lock().values().map(Vec::len).sum()
    }
}

impl LiveBind {
    pub fn figures(&self) -> &Arc<BindStatus> {
        &self.figures
    }

    /// Has the bind keep a slot that counts on all nodes.
    pub fn keep(&self, slot: BindSlot) {
        *self.slot.lock() = Some(slot);
    }

    /// Returns the number of its slot on all nodes, from 0; none without other nodes.
    pub fn slot(&self) -> Option<u32> {
        self.slot.lock().as_ref().map(BindSlot::number)
    }

    /// Frees the slot. To be called when the bind ends, before the TCP connection is closed. Repeated calls have no
    /// effect.
    pub fn leave(&self) {
        let connection = self.figures.began.connection;
        let mut live = self.live.lock();
        let Some(of_connection) = live.get_mut(&connection) else { return };
        of_connection.retain(|bind| bind.number != self.figures.number);
        if of_connection.is_empty() {
            live.remove(&connection);
        }
        drop(live);
        *self.slot.lock() = None;
        self.figures.left();
    }
}

impl Deref for LiveBind {
    type Target = BindStatus;

    fn deref(&self) -> &BindStatus {
        &self.figures
    }
}

impl Drop for LiveBind {
    fn drop(&mut self) {
        self.leave();
    }
}

fn as_count(binds: u32) -> usize {
    usize::try_from(binds).expect("32 bits fit")
}

#[cfg(test)]
#[path = "binds_tests.rs"]
mod tests;
