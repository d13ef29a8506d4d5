//! The feed: what the writer committed and the follower has not taken yet. The writer adds to two lists and does not wait; the
//! follower takes both at once. Beyond a limit the feed drops everything until the follower has caught up from the tables.

use crate::record::RequestEntry;
use crate::record::committed::{AcceptedMessage, Committed, Erasures, Followers, RecordErasure};
use hermod_engine::steps::MessageStep;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Accepted messages that the feed holds. Each keeps its acceptance in memory, with the text.
const ACCEPTED_MAX: usize = 32_768;
/// Steps that the feed holds.
const STEPS_MAX: usize = 262_144;
/// With this many accepted messages or steps the follower takes them at once, so that few wait in memory.
const ACCEPTED_ENOUGH: usize = 4_096;
const STEPS_ENOUGH: usize = 32_768;
/// Entries of the request log that the feed holds. Further ones are dropped and counted.
const REQUESTS_MAX: usize = 16_384;

/// Everything that was committed since the follower last took something.
#[derive(Default)]
pub(crate) struct Fed {
    pub accepted: Vec<AcceptedMessage>,
    /// In the order in which they happened. Those of an accepted message come after its acceptance.
    pub steps: Vec<MessageStep>,
    pub requests: Vec<RequestEntry>,
    /// What was erased. What was committed before has it no more.
    pub erased: Vec<RecordErasure>,
    /// The journal's number of the last batch.
    pub sequence: u64,
    /// When the first batch was committed, in real time.
    pub since: Option<Instant>,
    /// The last batch that was dropped because the feed was full. The follower must read the tables, as of this batch or
    /// later.
    pub dropped: Option<u64>,
    pub batches_dropped: u64,
    /// Entries of the request log that were dropped.
    pub requests_dropped: u64,
    /// How often [`Feed::request`] was called so far.
    pub requested: u64,
    /// The store is being closed: nothing follows.
    pub closed: bool,
}

impl Fed {
    fn is_full(&self) -> bool {
        self.accepted.len() >= ACCEPTED_MAX || self.steps.len() >= STEPS_MAX
    }

    fn has_enough(&self) -> bool {
        self.accepted.len() >= ACCEPTED_ENOUGH || self.steps.len() >= STEPS_ENOUGH
    }

    /// Empties it and keeps its memory, for the next [`Feed::take`].
    pub(crate) fn clear(&mut self) {
        let Fed { accepted, steps, requests, erased, sequence, since, dropped, .. } = self;
        erased.clear();
        accepted.clear();
        steps.clear();
        requests.clear();
        (*sequence, *since, *dropped) = (0, None, None);
        (self.batches_dropped, self.requests_dropped) = (0, 0);
        (self.requested, self.closed) = (0, false);
    }
}

/// Where the writer puts what it has committed. Without a follower it holds nothing.
pub(crate) struct Feed {
    is_followed: bool,
    fed: Mutex<Fed>,
    wake: Condvar,
    /// The nodes whose records follow this engine.
    pub(crate) followers: Followers,
}

impl Feed {
    /// Returns a feed that a follower takes from, if `is_followed`; else one that drops everything.
    pub(crate) fn new(is_followed: bool) -> Feed {
        Feed { is_followed, fed: Mutex::default(), wake: Condvar::new(), followers: Followers::default() }
    }

    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// Adds a batch that is durable, for the follower of this process and those of other nodes. Leaves `steps` empty.
    pub(crate) fn push(
        &self,
        sequence: u64,
        accepted: impl Iterator<Item = AcceptedMessage>,
        steps: &mut Vec<MessageStep>,
        erased: Erasures,
    ) {
        let mut fed = self.lock();
        let Erasures { all, by_other_nodes } = erased;
        if !self.followers.are_there() {
            return self.add(fed, sequence, accepted, steps, by_other_nodes);
        }
        let previous = std::mem::replace(&mut fed.sequence, sequence);
        let accepted: Vec<AcceptedMessage> = accepted.collect();
        if previous != sequence || !accepted.is_empty() || !steps.is_empty() {
            let (accepted, steps) = (accepted.clone(), steps.clone());
            self.followers.pass_on(Committed { previous, sequence, accepted, steps, erased: all });
        }
        self.add(fed, sequence, accepted.into_iter(), steps, by_other_nodes);
    }

    /// Adds a batch that another node has committed. If one is missing before it, the follower reads the tables. One that came too
    /// late is left out: the follower has been told to read the tables as of a later one.
    pub(crate) fn push_committed(&self, committed: Committed) {
        let Committed { previous, sequence, accepted, mut steps, erased } = committed;
        let mut fed = self.lock();
        if fed.sequence == previous {
            self.add(fed, sequence, accepted.into_iter(), &mut steps, erased);
        } else {
            fed.erased.extend(erased);
            let is_news = fed.sequence < sequence;
            drop(fed);
            if is_news {
                self.push_elsewhere(sequence);
            }
        }
    }

    /// Returns the last batch.
    pub(crate) fn sequence(&self) -> u64 {
        self.lock().sequence
    }

    fn add(
        &self,
        mut fed: MutexGuard<'_, Fed>,
        sequence: u64,
        accepted: impl Iterator<Item = AcceptedMessage>,
        steps: &mut Vec<MessageStep>,
        erased: Vec<RecordErasure>,
    ) {
        fed.sequence = sequence;
        if !self.is_followed {
            return steps.clear();
        }
        fed.erased.extend(erased);
        fed.since.get_or_insert_with(real_time);
        if fed.dropped.is_some() || fed.is_full() {
            fed.dropped = Some(sequence);
            fed.batches_dropped += 1;
            drop(fed);
            steps.clear();
            return self.wake.notify_one();
        }
        fed.accepted.extend(accepted);
        fed.steps.append(steps);
        if fed.has_enough() {
            drop(fed);
            self.wake.notify_one();
        }
    }

    /// Notes that another process has committed batches up to this one. The follower reads them from the tables.
    pub(crate) fn push_elsewhere(&self, sequence: u64) {
        let mut fed = self.lock();
        fed.sequence = fed.sequence.max(sequence);
        if !self.is_followed {
            return;
        }
        fed.dropped = Some(sequence);
        drop(fed);
        self.wake.notify_one();
    }

    /// Adds an entry of the request log.
    pub(crate) fn push_request(&self, entry: RequestEntry) {
        if !self.is_followed {
            return;
        }
        let mut fed = self.lock();
        if fed.requests.len() < REQUESTS_MAX {
            fed.requests.push(entry);
        } else {
            fed.requests_dropped += 1;
        }
    }

    /// Waits for `pause`, or until the feed has enough or is closed, or was requested more than `answered` times. Then exchanges
    /// everything in it with `empty`.
    pub(crate) fn take(&self, pause: Duration, answered: u64, empty: &mut Fed) {
        let fed = self.lock();
        let waits = |fed: &mut Fed| {
            !fed.closed && fed.dropped.is_none() && !fed.has_enough() && fed.requested <= answered
        };
        let waited = self.wake.wait_timeout_while(fed, pause, waits);
        let (mut fed, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *fed, empty);
        // It stays closed, and continues from the same batch.
        (fed.closed, fed.sequence, fed.requested) = (empty.closed, empty.sequence, empty.requested);
    }

    /// Sets the last batch: when a store on a server is opened, or when a batch has nothing for the record.
    pub(crate) fn set_sequence(&self, sequence: u64) {
        self.lock().sequence = sequence;
    }

    /// Returns since when the feed holds something.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.lock().since
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Makes the follower take what is left, and stop.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// Makes the follower take what there is now. Returns the number of this request.
    pub(crate) fn request(&self) -> u64 {
        let mut fed = self.lock();
        fed.requested += 1;
        self.wake.notify_one();
        fed.requested
    }

    fn lock(&self) -> MutexGuard<'_, Fed> {
        self.fed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the lag of the record is real time, also under a test's clock"
)]
pub(crate) fn real_time() -> Instant {
    Instant::now()
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
