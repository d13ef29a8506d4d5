//! Logs rejected binds: the first of each address, reason and connection, and every minute how many more there were. A line
//! for each would let strangers fill the disk; binds with a system_id that does not exist count together.

use crate::gateway::Gateway;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::ConnectionId;
use hermod_domain::log_throttle::{LogThrottle, SuppressedLines};
use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);
/// Kinds that are counted separately.
const KINDS_MAX: usize = 1_000;

/// Address, reason, and the connection with this system_id if there is one.
type Kind = (IpAddr, &'static str, Option<ConnectionId>);

pub(super) struct RejectedBindLog(Mutex<LogThrottle<Kind>>);

impl RejectedBindLog {
    pub(super) fn new() -> RejectedBindLog {
        RejectedBindLog(Mutex::new(LogThrottle::new(INTERVAL, KINDS_MAX)))
    }

    /// Counts a rejected bind. Returns true if it is to be logged.
    pub(super) fn note(&self, kind: Kind, now: Timestamp) -> bool {
        self.0.lock().should_log(kind, now)
    }

    /// Logs the counts every minute. Never returns.
    pub(super) async fn write_counts(&self, gateway: &Gateway) {
        loop {
            gateway.clock.sleep(INTERVAL).await;
            self.write_due(&gateway.catalogue(), gateway.clock.now());
        }
    }

    fn write_due(&self, catalogue: &Catalogue, now: Timestamp) {
        for SuppressedLines { kind, times } in self.0.lock().due(now) {
            let Some((peer, why, connection)) = kind else {
                tracing::info!(times, "Rejected more binds from many addresses");
                continue;
            };
            let access = connection.and_then(|id| catalogue.connection(id)?.smpp.as_ref());
            let system_id = access.map_or("unknown", |access| access.system_id.as_str());
            tracing::info!(system_id, %peer, times, "Rejected more binds: {why}");
        }
    }
}
