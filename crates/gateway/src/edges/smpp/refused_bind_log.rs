//! Log lines about refused binds: one for the first from an address and for a reason, and every minute how many more there
//! were. Refused binds cost a stranger nothing, so a line for each would fill the disk.

use crate::clock::Clock;
use hermod_domain::repeats::{Repeated, Repeats};
use hermod_domain::time::Timestamp;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);
/// Addresses and reasons that are told apart.
const KINDS_MAX: usize = 1_000;

/// From where, and why.
type Kind = (IpAddr, &'static str);

pub(super) struct Refusals(Mutex<Repeats<Kind>>);

impl Refusals {
    pub(super) fn new() -> Refusals {
        Refusals(Mutex::new(Repeats::new(INTERVAL, KINDS_MAX)))
    }

    /// Counts a refused bind. True if it gets a line of its own.
    pub(super) fn note(&self, kind: Kind, now: Timestamp) -> bool {
        self.repeats().note(kind, now)
    }

    /// Writes the counts of every minute. Never ends.
    pub(super) async fn write_counts(&self, clock: &Clock) {
        loop {
            clock.sleep(INTERVAL).await;
            let due = self.repeats().due(clock.now());
            for Repeated { kind, times } in due {
                match kind {
                    Some((peer, why)) => tracing::info!(%peer, times, "Refused further binds: {why}"),
                    None => tracing::info!(times, "Refused further binds of many addresses"),
                }
            }
        }
    }

    fn repeats(&self) -> MutexGuard<'_, Repeats<Kind>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
