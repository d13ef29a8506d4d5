//! When each message of a run is due, and when the run ends. All connections share it and take the next message from it, so
//! that no message is sent twice or skipped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use thiserror::Error;

/// When messages are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SendPace {
    /// Each connection sends its next message after the response to the last one: measures capacity.
    ClosedLoop,
    /// Messages are due at a fixed rate, and latency counts from the due time, so that a stall of the server counts for
    /// every message it delays.
    OpenLoop { per_second: f64 },
}

impl SendPace {
    /// Messages due per second in an open loop.
    pub(crate) fn per_second(self) -> Option<f64> {
        match self {
            SendPace::ClosedLoop => None,
            SendPace::OpenLoop { per_second } => Some(per_second),
        }
    }
}

/// The limits of a run. Every run has an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    requests_max: u64,
    duration_max: Duration,
}

/// Why the limits of a run are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BoundRefusal {
    #[error("a run needs an end: give a number of requests, a duration, or both")]
    Endless,
}

/// The longest run, also where only its count is limited.
pub const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

impl Bound {
    /// Limits the count, the duration, or both.
    pub fn new(requests: Option<u64>, duration: Option<Duration>) -> Result<Bound, BoundRefusal> {
        if requests.is_none() && duration.is_none() {
            return Err(BoundRefusal::Endless);
        }
        Ok(Bound {
            requests_max: requests.unwrap_or(u64::MAX),
            duration_max: duration.unwrap_or(DURATION_MAX).min(DURATION_MAX),
        })
    }

    pub fn requests(count: u64) -> Bound {
        Bound { requests_max: count, duration_max: DURATION_MAX }
    }

    pub fn duration(duration: Duration) -> Bound {
        Bound { requests_max: u64::MAX, duration_max: duration.min(DURATION_MAX) }
    }

    pub(crate) fn at_most(self, requests: u64) -> Bound {
        Bound { requests_max: self.requests_max.min(requests), ..self }
    }
}

/// One message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Position in the run, from 0.
    pub(crate) position: u64,
    /// When it is due; none in a closed loop.
    pub(crate) due: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct SendSchedule {
    pace: SendPace,
    bound: Bound,
    started: Instant,
    /// How long after its end an open loop may still send messages that were due.
    overrun_max: Duration,
    taken: AtomicU64,
    stopped: AtomicBool,
}

/// Ends a run early.
#[derive(Clone)]
pub struct Stopper(pub(crate) Arc<SendSchedule>);

impl Stopper {
    /// Sends nothing more; what was sent is still awaited.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl SendSchedule {
    pub(crate) fn new(pace: SendPace, bound: Bound, started: Instant, overrun_max: Duration) -> SendSchedule {
        SendSchedule {
            pace,
            bound,
            started,
            overrun_max,
            taken: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns the next message, or none at the end of the run.
    pub(crate) fn take(&self, now: Instant) -> Option<Arrival> {
        let running = now.saturating_duration_since(self.started);
        let overrun = self.pace.per_second().map_or(Duration::ZERO, |_| self.overrun_max);
        if self.stopped.load(Relaxed) || running >= self.bound.duration_max + overrun {
            return None;
        }
        let planned = self.planned();
        let position = self.taken.fetch_update(Relaxed, Relaxed, |n| (n < planned).then_some(n + 1)).ok()?;
        Some(Arrival { position, due: self.due(position) })
    }

    fn due(&self, position: u64) -> Option<Instant> {
        let per_second = self.pace.per_second()?;
        Some(self.started + Duration::from_secs_f64(position as f64 / per_second))
    }

    /// Returns when the message at `position` is due; none if the run has no such message or is stopped.
    pub(crate) fn due_at(&self, position: usize) -> Option<Instant> {
        let position = position as u64;
        if self.stopped.load(Relaxed) || position >= self.planned() {
            return None;
        }
        self.due(position)
    }

    /// The number of messages of the run; without a limit in a closed loop that is limited by time.
    fn planned(&self) -> u64 {
        let due = |rate: f64| (rate * self.bound.duration_max.as_secs_f64()).ceil() as u64;
        self.bound.requests_max.min(self.pace.per_second().map_or(u64::MAX, due))
    }

    /// Messages that were due in an open loop and not sent, because all connections were busy.
    pub(crate) fn unsent(&self) -> u64 {
        match self.pace {
            SendPace::ClosedLoop => 0,
            SendPace::OpenLoop { .. } if self.stopped.load(Relaxed) => 0,
            SendPace::OpenLoop { .. } => self.planned() - self.taken.load(Relaxed),
        }
    }

    /// Ends the run; requests in flight continue.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
