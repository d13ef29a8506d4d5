//! Limits what connections to the node port may cost before they have proved that they are nodes: how many are greeted at a
//! time, in all and of one address; how soon an address that failed is greeted again; and how many lines the log gets.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Connections that are greeted at a time.
const GREETINGS_MAX: usize = 64;
/// Connections of one address that are greeted at a time. Several nodes may share an address.
const GREETINGS_PER_ADDRESS_MAX: usize = 8;
/// Failed greetings of an address before it has to wait. A node that starts while its network is broken fails a few times.
const FAILURES_FREE: u32 = 10;
/// The first wait. It doubles with each failure.
const WAIT_FIRST: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(32);
/// An address without a failure for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(120);
/// Addresses that are remembered. Further ones are greeted without: the limit of all greetings still holds.
const ADDRESSES_MAX: usize = 1_024;
/// Failures between two lines of the log are counted in the second.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// Why a connection is closed before it is greeted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Too many are being greeted.
    Limit,
    /// Too many of this address are being greeted.
    AddressLimit,
    /// The address failed and has to wait.
    BackOff,
}

impl Refused {
    /// The value of the label `reason`.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Refused::Limit => "limit",
            Refused::AddressLimit => "address-limit",
            Refused::BackOff => "back-off",
        }
    }
}

/// What one line of the log says about the connections since the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Connections that failed or were refused.
    pub failed: u64,
}

/// The connections that have not proved anything. Times are since any fixed moment.
#[derive(Default)]
pub(super) struct Strangers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    greetings: usize,
    addresses: HashMap<IpAddr, Address>,
    lines: LineLimit,
}

/// Limits the lines of the log about one kind of failure to one in [`LINE_EVERY`].
#[derive(Default)]
pub(super) struct LineLimit {
    /// Failures since the last line.
    unlogged: u64,
    last: Option<Duration>,
}

impl LineLimit {
    /// Counts a failure. Returns a line if the log gets one now.
    pub(super) fn note(&mut self, now: Duration) -> Option<Line> {
        self.unlogged += 1;
        self.line(now)
    }

    /// Returns a line if there is something to log and the last one is old enough.
    fn line(&mut self, now: Duration) -> Option<Line> {
        if self.unlogged == 0 || self.last.is_some_and(|last| now < last + LINE_EVERY) {
            return None;
        }
        self.last = Some(now);
        Some(Line { failed: std::mem::take(&mut self.unlogged) })
    }
}

#[derive(Default)]
struct Address {
    greetings: usize,
    failures: u32,
    last_failure: Duration,
    waits_until: Duration,
}

/// A connection that is being greeted. Dropping it makes room for another.
pub(super) struct Greeting {
    strangers: Arc<Strangers>,
    address: IpAddr,
}

impl Strangers {
    /// Admits a connection, or says why not.
    pub(super) fn admit(self: &Arc<Strangers>, peer: IpAddr, now: Duration) -> Result<Greeting, Refused> {
        let address = limited_as(peer);
        let mut state = self.lock();
        if state.greetings >= GREETINGS_MAX {
            return Err(Refused::Limit);
        }
        state.forget_old(now);
        let has_room = state.addresses.len() < ADDRESSES_MAX;
        if has_room || state.addresses.contains_key(&address) {
            let known = state.addresses.entry(address).or_default();
            if known.waits_until > now {
                return Err(Refused::BackOff);
            }
            if known.greetings >= GREETINGS_PER_ADDRESS_MAX {
                return Err(Refused::AddressLimit);
            }
            known.greetings += 1;
        }
        state.greetings += 1;
        Ok(Greeting { strangers: self.clone(), address })
    }

    /// Counts a connection that failed or was refused. Returns a line if the log gets one now.
    pub(super) fn note(&self, now: Duration) -> Option<Line> {
        self.lock().lines.note(now)
    }

    /// Returns a line if there is something to log and the last one is old enough.
    pub(super) fn line(&self, now: Duration) -> Option<Line> {
        self.lock().lines.line(now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets addresses without a failure lately, once there are many.
    fn forget_old(&mut self, now: Duration) {
        if self.addresses.len() >= ADDRESSES_MAX {
            self.addresses
                .retain(|_, known| known.greetings > 0 || now < known.last_failure + FORGOTTEN_AFTER);
        }
    }
}

impl Greeting {
    /// The connection has proved that it is a node: earlier failures of its address are forgotten.
    pub(super) fn succeeded(self) {
        if let Some(known) = self.strangers.lock().addresses.get_mut(&self.address) {
            known.failures = 0;
        }
    }

    /// The connection has proved nothing: from the tenth on its address has to wait.
    pub(super) fn failed(self, now: Duration) {
        if let Some(known) = self.strangers.lock().addresses.get_mut(&self.address) {
            if now >= known.last_failure + FORGOTTEN_AFTER {
                known.failures = 0;
            }
            known.failures = known.failures.saturating_add(1);
            known.last_failure = now;
            if let Some(doublings) = known.failures.checked_sub(FAILURES_FREE) {
                known.waits_until = now + WAIT_MAX.min(WAIT_FIRST.saturating_mul(1 << doublings.min(16)));
            }
        }
    }
}

impl Drop for Greeting {
    fn drop(&mut self) {
        let mut state = self.strangers.lock();
        state.greetings -= 1;
        if let Some(known) = state.addresses.get_mut(&self.address) {
            known.greetings = known.greetings.saturating_sub(1);
            if known.greetings == 0 && known.failures == 0 {
                state.addresses.remove(&self.address);
            }
        }
    }
}

/// Returns the address as it is limited: of IPv6 the network of 64 bits, which one machine may have as a whole.
fn limited_as(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
#[path = "strangers_tests.rs"]
mod tests;
