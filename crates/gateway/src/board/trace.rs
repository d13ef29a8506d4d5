//! The last PDUs of a carrier's links or of a customer's binds, as text lines. Off unless the operator (links) or a user of the
//! account (binds) enables it for a time.

use hermod_domain::time::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines kept; the oldest are dropped first.
pub const TRACE_LINES_MAX: usize = 1_000;
/// How long lines stay after the trace has ended. They have phone numbers, which an erasure does not reach.
pub(super) const TRACE_LINES_KEPT: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduDirection {
    /// From the peer.
    In,
    /// To the peer.
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
        self.end(&mut self.kept());
    }

    fn end(&self, kept: &mut Kept) {
        kept.until = None;
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
        let mut kept = self.kept();
        if self.has_ended(&mut kept, now) {
            return;
        }
        kept.last_seq += 1;
        let seq = kept.last_seq;
        kept.lines.push_back(TraceLine { seq, at: now, session, way, line });
        if kept.lines.len() > TRACE_LINES_MAX {
            kept.lines.pop_front();
        }
    }

    /// Disables an expired trace and deletes old lines. Returns true if nothing is left of it.
    pub(super) fn expire(&self, now: Timestamp) -> bool {
        let mut kept = self.kept();
        let has_ended = self.has_ended(&mut kept, now);
        let is_old = kept.lines.back().is_some_and(|last| now.since(last.at) >= TRACE_LINES_KEPT);
        if has_ended && is_old {
            kept.lines = VecDeque::new();
        }
        has_ended && kept.lines.is_empty()
    }

    /// Disables an expired trace. Returns true if the trace is off.
    fn has_ended(&self, kept: &mut Kept, now: Timestamp) -> bool {
        let has_ended = kept.until.is_none_or(|until| until <= now);
        if has_ended {
            self.end(kept);
        }
        has_ended
    }

    /// Returns the lines with a number above `after`.
    pub fn read(&self, after: u64) -> Vec<TraceLine> {
        self.kept().lines.iter().filter(|line| line.seq > after).cloned().collect()
    }

    /// Returns the newest lines, the newest first, and how many are kept.
    pub fn newest(&self, limit: usize) -> (Vec<TraceLine>, usize) {
        let kept = self.kept();
        (kept.lines.iter().rev().take(limit).cloned().collect(), kept.lines.len())
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
        let an_hour = 3_600_000;
        assert!(!trace.expire(at(2 + an_hour)) && trace.read(0).len() == 2);
        assert!(trace.expire(at(3 + an_hour)) && trace.read(0).is_empty(), "old lines are deleted");
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
        let (newest, kept) = trace.newest(2);
        assert_eq!((newest[0].seq, newest.len(), kept), (TRACE_LINES_MAX as u64 + 5, 2, TRACE_LINES_MAX));
    }
}
