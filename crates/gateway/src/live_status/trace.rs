//! The last PDUs of a carrier's links or of a customer's binds, as text lines. Off unless the operator (links) or a user of the
//! account (binds) enables it for a time. Several nodes send each other their lines, so that each has all of them.

use hermod_domain::time::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Lines kept of each node; the oldest are dropped first.
pub const TRACE_LINES_MAX: usize = 1_000;
/// How long lines stay after the trace has ended. They have phone numbers, which an erasure does not reach.
pub(super) const TRACE_LINES_KEPT: Duration = Duration::from_secs(3_600);

hermod_domain::named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum PduDirection {
        /// From the peer.
        In = "in",
        /// To the peer.
        Out = "out",
    }
}

/// One PDU, without passwords and message texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLine {
    /// Increases with every line, from 1.
    pub seq: u64,
    pub at: Timestamp,
    /// The other node that has the link or bind; none for one of this node.
    pub node: Option<String>,
    /// The number of the link or bind at its node.
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
    /// The lines up to this number were sent to the other nodes.
    told_seq: u64,
    /// By node: of this one under none.
    lines: BTreeMap<Option<String>, VecDeque<TraceLine>>,
}

impl Kept {
    fn add(&mut self, line: TraceLine) {
        self.last_seq += 1;
        let lines = self.lines.entry(line.node.clone()).or_default();
        lines.push_back(TraceLine { seq: self.last_seq, ..line });
        if lines.len() > TRACE_LINES_MAX {
            lines.pop_front();
        }
    }
}

impl Trace {
    /// Enables the trace. Earlier lines stay readable.
    pub fn enable(&self, until: Timestamp) {
        self.kept.lock().until = Some(until);
        self.on.store(true, Ordering::Relaxed);
    }

    pub fn disable(&self) {
        self.end(&mut self.kept.lock());
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
        self.kept.lock().until
    }

    /// Adds a line, unless the trace has expired.
    pub fn note(&self, session: u64, way: PduDirection, line: String, now: Timestamp) {
        let mut kept = self.kept.lock();
        if !self.has_ended(&mut kept, now) {
            kept.add(TraceLine { seq: 0, at: now, node: None, session, way, line });
        }
    }

    /// Adds lines of another node.
    pub fn note_elsewhere(&self, node: &str, lines: Vec<TraceLine>) {
        let mut kept = self.kept.lock();
        lines.into_iter().for_each(|line| kept.add(TraceLine { node: Some(node.to_owned()), ..line }));
    }

    /// Returns the lines of this node that the others do not have.
    pub fn take_new(&self) -> Vec<TraceLine> {
        let mut kept = self.kept.lock();
        let told = kept.told_seq;
        kept.told_seq = kept.last_seq;
        let own = kept.lines.get(&None).into_iter().flatten();
        own.filter(|line| line.seq > told).cloned().collect()
    }

    /// Disables an expired trace and deletes old lines. Returns true if nothing is left of it.
    pub(super) fn expire(&self, now: Timestamp) -> bool {
        let mut kept = self.kept.lock();
        let has_ended = self.has_ended(&mut kept, now);
        let last = kept.lines.values().filter_map(|lines| lines.back()).map(|line| line.at).max();
        if has_ended && last.is_some_and(|last| now.since(last) >= TRACE_LINES_KEPT) {
            kept.lines = BTreeMap::new();
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

    /// Returns the lines with a number above `after`, in the order of their times: those of other nodes arrive later.
    pub fn read(&self, after: u64) -> Vec<TraceLine> {
        let mut lines: Vec<TraceLine> =
            self.kept.lock().lines.values().flatten().filter(|line| line.seq > after).cloned().collect();
        lines.sort_by_key(|line| (line.at, line.seq));
        lines
    }

    /// Returns the newest lines, the newest first, and how many are kept.
    pub fn newest(&self, limit: usize) -> (Vec<TraceLine>, usize) {
        let mut lines = self.read(0);
        let kept = lines.len();
        lines.reverse();
        lines.truncate(limit);
        (lines, kept)
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
