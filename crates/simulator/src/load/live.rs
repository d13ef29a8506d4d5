//! Counters of a running load, for the progress line and for tests that act during a run.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::runtime;

/// Counters of a running load.
#[derive(Debug)]
pub struct LiveCounters {
    started: Instant,
    answered: AtomicU64,
    failed: AtomicU64,
}

impl LiveCounters {
    pub(crate) fn new(started: Instant) -> LiveCounters {
        LiveCounters { started, answered: AtomicU64::new(0), failed: AtomicU64::new(0) }
    }

    pub(crate) fn count_answer(&self) {
        self.answered.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_failure(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    /// Requests with a response of any status.
    pub fn answered(&self) -> u64 {
        self.answered.load(Relaxed)
    }

    /// Requests without a response.
    pub fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    pub fn running_for(&self) -> Duration {
        runtime::now() - self.started
    }
}

/// Makes progress lines: totals, and the rate since the previous line.
#[derive(Debug, Default)]
pub struct ProgressMeter {
    answered_before: u64,
    running_before: Duration,
}

impl ProgressMeter {
    /// Returns the line for now.
    pub fn line(&mut self, live: &LiveCounters) -> ProgressLine {
        let (answered, running) = (live.answered(), live.running_for());
        let since = (running - self.running_before).as_secs_f64().max(1e-6);
        let line = ProgressLine {
            running_s: running.as_secs_f64(),
            answered,
            failed: live.failed(),
            per_second: (answered - self.answered_before) as f64 / since,
        };
        (self.answered_before, self.running_before) = (answered, running);
        line
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgressLine {
    pub running_s: f64,
    pub answered: u64,
    pub failed: u64,
    pub per_second: f64,
}

impl fmt::Display for ProgressLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgressLine { running_s, answered, failed, per_second } = self;
        write!(f, "{running_s:7.1} s  {per_second:9.0} /s  {answered:>10} answered  {failed:>7} errors")
    }
}
