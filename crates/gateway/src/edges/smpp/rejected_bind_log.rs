//! Logs rejected binds: the first of each address and reason, and every minute how many more there were. A line for
//! each would let strangers fill the disk.

use crate::clock::Clock;
use hermod_domain::log_throttle::{LogThrottle, SuppressedLines};
use hermod_domain::time::Timestamp;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);
/// Pairs of address and reason that are counted separately.
const KINDS_MAX: usize = 1_000;

/// Address and reason.
type Kind = (IpAddr, &'static str);

pub(super) struct RejectedBindLog(Mutex<LogThrottle<Kind>>);

impl RejectedBindLog {
    pub(super) fn new() -> RejectedBindLog {
        RejectedBindLog(Mutex::new(LogThrottle::new(INTERVAL, KINDS_MAX)))
    }

    /// Counts a rejected bind. Returns true if it is to be logged.
    pub(super) fn note(&self, kind: Kind, now: Timestamp) -> bool {
        self.repeats().should_log(kind, now)
    }

    /// Logs the counts every minute. Never returns.
    pub(super) async fn write_counts(&self, clock: &Clock) {
        loop {
            clock.sleep(INTERVAL).await;
            let due = self.repeats().due(clock.now());
            for SuppressedLines { kind, times } in due {
                match kind {
                    Some((peer, why)) => tracing::info!(%peer, times, "Rejected more binds: {why}"),
                    None => tracing::info!(times, "Rejected more binds from many addresses"),
                }
            }
        }
    }

    fn repeats(&self) -> MutexGuard<'_, LogThrottle<Kind>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
