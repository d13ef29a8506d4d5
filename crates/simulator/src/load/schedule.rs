//! When each message of a run is due, and when the run is over. Shared by all connections: each takes the next
//! arrival, so no message is sent twice and none is skipped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use thiserror::Error;

/// How messages follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each connection sends its next message when the answer to the last one is in: measures capacity.
    ClosedLoop,
    /// Messages are due at a fixed rate whatever the server does, and latency counts from the moment a message
    /// was due. A server that stalls is charged for every message it kept waiting.
    OpenLoop { per_second: f64 },
}

/// What a run may send at most. There is no run without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    requests_max: u64,
    duration_max: Duration,
}

/// Why a run cannot be described that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BoundRefusal {
    #[error("a run needs an end: give a number of requests, a duration, or both")]
    Endless,
}

/// A run limited by its count alone still ends after this long.
pub const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

impl Bound {
    /// By count, by duration, or by whichever comes first.
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

/// One message to send now or soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Position in the run, from 0.
    pub(crate) position: u64,
    /// The moment it is due; in a closed loop it is due when its turn comes.
    pub(crate) due: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Schedule {
    pace: Pace,
    bound: Bound,
    started: Instant,
    /// How long after its end an open loop may still send what was due before.
    overrun_max: Duration,
    taken: AtomicU64,
    stopped: AtomicBool,
}

impl Schedule {
    pub(crate) fn new(pace: Pace, bound: Bound, started: Instant, overrun_max: Duration) -> Schedule {
        Schedule {
            pace,
            bound,
            started,
            overrun_max,
            taken: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// The next arrival, or none when the run is over.
    pub(crate) fn take(&self, now: Instant) -> Option<Arrival> {
        let running = now.saturating_duration_since(self.started);
        let overrun = match self.pace {
            Pace::ClosedLoop => Duration::ZERO,
            Pace::OpenLoop { .. } => self.overrun_max,
        };
        if self.stopped.load(Relaxed) || running >= self.bound.duration_max + overrun {
            return None;
        }
        let planned = self.planned();
        let position = self.taken.fetch_update(Relaxed, Relaxed, |n| (n < planned).then_some(n + 1)).ok()?;
        Some(Arrival { position, due: self.due(position) })
    }

    fn due(&self, position: u64) -> Option<Instant> {
        match self.pace {
            Pace::ClosedLoop => None,
            Pace::OpenLoop { per_second } => {
                Some(self.started + Duration::from_secs_f64(position as f64 / per_second))
            }
        }
    }

    /// When the arrival at `position` is due; none when the run has no such arrival or is stopped.
    pub(crate) fn due_at(&self, position: usize) -> Option<Instant> {
        let position = position as u64;
        if self.stopped.load(Relaxed) || position >= self.planned() {
            return None;
        }
        self.due(position)
    }

    /// How many messages the run holds; in a closed loop limited by time alone nobody knows.
    fn planned(&self) -> u64 {
        match self.pace {
            Pace::ClosedLoop => self.bound.requests_max,
            Pace::OpenLoop { per_second } => {
                let due = (per_second * self.bound.duration_max.as_secs_f64()).ceil() as u64;
                self.bound.requests_max.min(due)
            }
        }
    }

    /// Messages an open loop owed and never sent, because every connection was still busy with earlier ones.
    pub(crate) fn unsent(&self) -> u64 {
        match self.pace {
            Pace::ClosedLoop => 0,
            Pace::OpenLoop { .. } if self.stopped.load(Relaxed) => 0,
            Pace::OpenLoop { .. } => self.planned() - self.taken.load(Relaxed),
        }
    }

    /// Nothing more is handed out; what is in flight ends by itself.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::now;

    fn schedule(pace: Pace, bound: Bound) -> (Schedule, Instant) {
        let started = now();
        (Schedule::new(pace, bound, started, Duration::from_secs(1)), started)
    }

    #[test]
    fn a_run_without_an_end_is_refused() {
        assert_eq!(Bound::new(None, None), Err(BoundRefusal::Endless));
    }

    #[test]
    fn a_closed_loop_hands_out_its_count_and_no_more() {
        let (schedule, started) = schedule(Pace::ClosedLoop, Bound::requests(3));
        let positions: Vec<u64> = (0..5).filter_map(|_| schedule.take(started)).map(|a| a.position).collect();
        assert_eq!(positions, [0, 1, 2]);
        assert_eq!(schedule.unsent(), 0);
    }

    #[test]
    fn a_closed_loop_stops_at_its_deadline() {
        let (schedule, started) = schedule(Pace::ClosedLoop, Bound::duration(Duration::from_secs(2)));
        assert!(schedule.take(started + Duration::from_millis(1999)).is_some());
        assert_eq!(schedule.take(started + Duration::from_secs(2)), None);
    }

    #[test]
    fn an_open_loop_spaces_its_arrivals_evenly() {
        let (schedule, started) = schedule(Pace::OpenLoop { per_second: 4.0 }, Bound::requests(100));
        let dues: Vec<u128> = (0..4)
            .filter_map(|_| schedule.take(started))
            .map(|a| (a.due.expect("an open loop says when") - started).as_millis())
            .collect();
        assert_eq!(dues, [0, 250, 500, 750]);
    }

    #[test]
    fn an_open_loop_sends_what_was_due_even_when_it_is_late_but_not_for_ever() {
        let bound = Bound::duration(Duration::from_secs(1));
        let (schedule, started) = schedule(Pace::OpenLoop { per_second: 10.0 }, bound);
        for _ in 0..7 {
            assert!(schedule.take(started + Duration::from_millis(1500)).is_some());
        }
        assert_eq!(schedule.take(started + Duration::from_secs(2)), None);
        assert_eq!(schedule.unsent(), 3);
    }

    #[test]
    fn a_stopped_run_hands_out_nothing_and_owes_nothing() {
        let (schedule, started) = schedule(Pace::OpenLoop { per_second: 10.0 }, Bound::requests(10));
        schedule.stop();
        assert_eq!(schedule.take(started), None);
        assert_eq!(schedule.unsent(), 0);
    }
}
