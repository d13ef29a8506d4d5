//! The last PDUs that went to and from a carrier, as lines, while somebody wants to see them. Off unless asked for.

use hermod_domain::time::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines that are kept; the oldest go first.
pub const TRACE_LINES_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the carrier.
    In,
    /// To the carrier.
    Out,
}

impl Way {
    pub const fn as_str(self) -> &'static str {
        match self {
            Way::In => "in",
            Way::Out => "out",
        }
    }
}

/// One PDU. Its line has neither passwords nor texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// Counts all lines there ever were, from 1.
    pub seq: u64,
    pub at: Timestamp,
    pub link: u8,
    pub way: Way,
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
    /// Keeps lines from now on. What was kept before stays readable.
    pub fn enable(&self, until: Timestamp) {
        self.kept().until = Some(until);
        self.on.store(true, Ordering::Relaxed);
    }

    pub fn disable(&self) {
        self.kept().until = None;
        self.on.store(false, Ordering::Relaxed);
    }

    /// Cheap enough to be asked for every PDU.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    pub fn until(&self) -> Option<Timestamp> {
        self.kept().until
    }

    /// Ends itself when its time is over.
    pub fn note(&self, link: u8, way: Way, line: String, now: Timestamp) {
        if self.expire(now) {
            return;
        }
        let mut kept = self.kept();
        kept.last_seq += 1;
        let seq = kept.last_seq;
        kept.lines.push_back(TraceLine { seq, at: now, link, way, line });
        if kept.lines.len() > TRACE_LINES_MAX {
            kept.lines.pop_front();
        }
    }

    /// Is it over, or was it never wanted?
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

    /// The lines after one that was read before; all that are kept after 0.
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
    fn a_trace_is_kept_while_it_is_wanted_and_read_on_from_where_one_was() {
        let trace = Trace::default();
        let note = |line: &str, ms| trace.note(1, Way::Out, line.to_owned(), at(ms));
        note("nobody looks", 1);
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
    fn a_trace_holds_no_more_than_its_limit() {
        let trace = Trace::default();
        trace.enable(at(i64::MAX));
        for _ in 0..TRACE_LINES_MAX + 5 {
            trace.note(1, Way::In, "enquire_link".to_owned(), at(1));
        }
        let lines = trace.read(0);
        assert_eq!((lines.len(), lines[0].seq), (TRACE_LINES_MAX, 6));
    }
}
