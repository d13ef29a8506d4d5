//! The last PDUs of a carrier's links or of a customer's binds, as text lines. Off unless somebody enables it for a time.

use hermod_domain::time::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines kept; the oldest are dropped first.
pub const TRACE_LINES_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduDirection {
    /// From the other side.
    In,
    /// To the other side.
    Out,
}

impl PduDirection {
    pub const fn as_str(self) -> &'static str {
        match self {
            PduDirection::In => "in",
            PduDirection::Out => "out",
        }
    }
}

/// One PDU, without passwords and message texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// Increases with every line, from 1.
    pub seq: u64,
    pub at: Timestamp,
    /// The number of the link or bind.
    pub session: u64,
    pub way: PduDirection,
    pub line: String,
}

#[derive(Debug, Default)]
pub struct Trace {
    on: AtomicBool,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    until: Option<Timestamp>,
    last_seq: u64,
    lines: VecDeque<TraceLine>,
}

impl Trace {
    /// Enables the trace. Earlier lines stay readable.
    pub fn enable(&self, until: Timestamp) {
        self.kept().until = Some(until);
        self.on.store(true, Ordering::Relaxed);
    }

    pub fn disable(&self) {
        self.kept().until = None;
        self.on.store(false, Ordering::Relaxed);
    }

    /// Whether the trace is on. Cheap enough to call for every PDU.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    pub fn until(&self) -> Option<Timestamp> {
        self.kept().until
    }

    /// Adds a line, unless the trace has expired.
    pub fn note(&self, session: u64, way: PduDirection, line: String, now: Timestamp) {
        if self.expire(now) {
            return;
        }
        let mut kept = self.kept();
        kept.last_seq += 1;
        let seq = kept.last_seq;
        kept.lines.push_back(TraceLine { seq, at: now, session, way, line });
        if kept.lines.len() > TRACE_LINES_MAX {
            kept.lines.pop_front();
        }
    }

    /// Disables an expired trace. Returns true if the trace is off.
    pub(super) fn expire(&self, now: Timestamp) -> bool {
        if !self.is_on() {
            return true;
        }
        let over = self.until().is_none_or(|until| until <= now);
        if over {
            self.disable();
        }
        over
    }

    /// Returns the lines with a number above `after`.
    pub fn read(&self, after: u64) -> Vec<TraceLine> {
        self.kept().lines.iter().filter(|line| line.seq > after).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn trace_keeps_lines_while_enabled_and_reads_after_a_number() {
        let trace = Trace::default();
        let note = |line: &str, ms| trace.note(1, PduDirection::Out, line.to_owned(), at(ms));
        note("not enabled", 1);
        assert!(!trace.is_on() && trace.read(0).is_empty());
        trace.enable(at(100));
        note("one", 2);
        note("two", 3);
        assert_eq!(trace.read(0).len(), 2);
        let last = trace.read(1);
        assert_eq!((last[0].seq, last[0].line.as_str()), (2, "two"));
        assert_eq!(trace.read(2), []);
        note("too late", 100);
        assert!(!trace.is_on());
        assert_eq!((trace.until(), trace.read(0).len()), (None, 2));
    }

    #[test]
    fn trace_keeps_at_most_its_limit_of_lines() {
        let trace = Trace::default();
        trace.enable(at(i64::MAX));
        for _ in 0..TRACE_LINES_MAX + 5 {
            trace.note(1, PduDirection::In, "enquire_link".to_owned(), at(1));
        }
        let lines = trace.read(0);
        assert_eq!((lines.len(), lines[0].seq), (TRACE_LINES_MAX, 6));
    }
}
