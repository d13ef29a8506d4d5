//! The timeouts of a connection. A timer for every request would cost more than parsing the request, so each
//! connection has one timer that checks periodically in which stage the connection is and since when.

use super::limits::HttpLimits;
use crate::clock::{Clock, Moment};
use crate::listeners::TrustedProxies;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The connection of a request.
#[derive(Clone)]
pub struct ConnectionInfo {
    /// The peer address, or the one in the PROXY header. Canonical.
    pub(crate) peer: IpAddr,
    /// The connection began with a PROXY header.
    pub(crate) is_proxied: bool,
    pub(crate) proxies: Arc<TrustedProxies>,
    pub(crate) timeouts: Arc<ConnectionTimeouts>,
}

impl ConnectionInfo {
    /// Makes the information of a new connection without a PROXY header.
    pub fn new(peer: IpAddr, proxies: Arc<TrustedProxies>, clock: Clock) -> ConnectionInfo {
        ConnectionInfo {
            peer: peer.to_canonical(),
            is_proxied: false,
            proxies,
            timeouts: Arc::new(ConnectionTimeouts::new(clock)),
        }
    }
}

/// What the connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The rest of a request's head, or the first byte of a new connection.
    Head,
    /// The rest of a request's body.
    Body,
    /// Our response.
    Serving,
    /// The next request.
    Idle,
    /// The body timed out: its reader must stop and respond.
    Overdue,
}

/// What to do when the timer has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutAction {
    /// Check again at this time.
    CheckAgain(Moment),
    /// Stop reading the body, and check again at this time.
    GiveUpOnBody(Moment),
    Close,
}

/// The stage of one connection and when it began. Only the connection's task uses it; it is atomic because the task
/// may move between threads.
pub(crate) struct ConnectionTimeouts {
    clock: Clock,
    /// Milliseconds since the clock's start, times 8, plus the stage.
    packed: AtomicU64,
}

const STAGE_BITS: u32 = 3;
const STAGES: [Stage; 5] = [Stage::Head, Stage::Body, Stage::Serving, Stage::Idle, Stage::Overdue];

const _: () = assert!(STAGES.len() <= 1 << STAGE_BITS);

impl ConnectionTimeouts {
    /// Starts in the stage `Head`.
    pub(crate) fn new(clock: Clock) -> ConnectionTimeouts {
        let timeouts = ConnectionTimeouts { clock, packed: AtomicU64::new(0) };
        timeouts.enter(Stage::Head);
        timeouts
    }

    pub(crate) fn enter(&self, stage: Stage) {
        let since = match stage {
            Stage::Head | Stage::Body | Stage::Idle | Stage::Overdue => self.clock.moment(),
            // No timeout applies to our own work, so the clock is not read.
            Stage::Serving => Moment(0),
        };
        // `as` on a fieldless enum is its index in STAGES.
        self.packed.store(since.0 << STAGE_BITS | stage as u64, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> (Stage, Moment) {
        let packed = self.packed.load(Ordering::Relaxed);
        let place = usize::try_from(packed & ((1 << STAGE_BITS) - 1)).expect("three bits fit");
        (STAGES[place], Moment(packed >> STAGE_BITS))
    }

    /// Records that bytes arrived: on an idle connection they begin a request.
    pub(crate) fn on_bytes(&self) {
        if self.now().0 == Stage::Idle {
            self.enter(Stage::Head);
        }
    }

    pub(crate) fn check(&self, limits: &HttpLimits, now: Moment) -> TimeoutAction {
        let HttpLimits { header_read_max, body_read_max, idle_max, .. } = *limits;
        let (stage, since) = self.now();
        let end = match stage {
            Stage::Head | Stage::Overdue => since.plus(header_read_max),
            Stage::Body => since.plus(body_read_max),
            Stage::Idle => since.plus(idle_max),
            Stage::Serving => Moment(u64::MAX),
        };
        if now < end {
            // A stage may begin right after this check, so the next check is never later than the shortest timeout.
            return TimeoutAction::CheckAgain(end.min(now.plus(shortest(limits))));
        }
        match stage {
            Stage::Head | Stage::Idle | Stage::Overdue | Stage::Serving => TimeoutAction::Close,
            Stage::Body => TimeoutAction::GiveUpOnBody(now.plus(header_read_max)),
        }
    }
}

fn shortest(limits: &HttpLimits) -> Duration {
    limits.header_read_max.min(limits.body_read_max).min(limits.idle_max)
}

#[cfg(test)]
#[path = "timeouts_tests.rs"]
mod tests;
