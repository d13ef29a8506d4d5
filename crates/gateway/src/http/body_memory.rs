//! Limits the memory of request bodies in transit, over all connections of both HTTP APIs. Without it, every
//! connection could hold a body of the largest size at once.

use metrics::gauge;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first bytes of each body are not counted: a connection's read buffer is larger. So an ordinary `POST /sms` is
/// accepted even while large bodies use up the limit.
const UNCOUNTED_BYTES: u64 = 8 * 1024;

/// The default limit.
pub(crate) const BODY_MEMORY_MAX: u64 = 64 * 1024 * 1024;

/// Retry-After in seconds for a rejected body.
pub const BODY_RETRY_S: u32 = 1;

/// The memory shared by all bodies.
#[derive(Clone, Debug)]
pub struct BodyMemory {
    bytes_max: u64,
    used: Arc<AtomicU64>,
}

/// There is no room for more bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyMemoryFull;

impl BodyMemory {
    pub fn new(bytes_max: u64) -> BodyMemory {
        BodyMemory { bytes_max, used: Arc::default() }
    }

    /// Returns the counted bytes of all bodies.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns a reservation of zero bytes for one body.
    pub fn reserve(&self) -> Reservation {
        Reservation { memory: self.clone(), bytes: 0 }
    }

    fn take(&self, bytes: u64) -> Result<(), BodyMemoryFull> {
        let within = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.bytes_max);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
        taken.map(drop).map_err(|_| BodyMemoryFull)
    }
}

/// The memory of one body, released when dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: BodyMemory,
    bytes: u64,
}

impl Reservation {
    /// Grows the reservation to a body of this length. If the limit is reached, releases all of it and fails: the
    /// caller rejects the body and drops it.
    pub fn grow_to(&mut self, length: usize) -> Result<(), BodyMemoryFull> {
        let counted = u64::try_from(length).unwrap_or(u64::MAX).saturating_sub(UNCOUNTED_BYTES);
        let more = counted.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let taken = self.memory.take(more);
        match taken {
            Ok(()) => {
                self.bytes = counted;
                self.show();
            }
            Err(BodyMemoryFull) => self.give_back(),
        }
        taken
    }

    fn give_back(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.memory.used.fetch_sub(bytes, Ordering::Relaxed);
            self.show();
        }
    }

    fn show(&self) {
        let kib = u32::try_from(self.memory.used() / 1024).unwrap_or(u32::MAX);
        gauge!("hermod_http_body_memory_bytes").set(f64::from(kib) * 1024.0);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
#[path = "body_memory_tests.rs"]
mod tests;
