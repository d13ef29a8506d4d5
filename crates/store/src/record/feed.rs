//! The feed: what the writer committed and the follower has not taken yet. The writer adds to two lists and does not wait; the
//! follower takes both at once. Beyond a limit the feed drops everything until the follower has caught up from the tables.

use crate::queued_acceptance::QueuedAcceptance;
use crate::record::RequestEntry;
use hermod_domain::ids::MessageId;
use hermod_domain::money::Money;
use hermod_engine::steps::MessageStep;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// A message that was just accepted.
pub(crate) struct AcceptedMessage {
    pub id: MessageId,
    /// The account's balance after its charge.
    pub balance: Money,
    pub queued: Arc<QueuedAcceptance>,
}

/// Everything that was committed since the follower last took something.
#[derive(Default)]
pub(crate) struct Fed {
    pub accepted: Vec<AcceptedMessage>,
    /// In the order in which they happened. Those of an accepted message come after its acceptance.
    pub steps: Vec<MessageStep>,
    pub requests: Vec<RequestEntry>,
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
        let Fed { accepted, steps, requests, sequence, since, dropped, .. } = self;
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
}

impl Feed {
    /// Returns a feed that a follower takes from, if `is_followed`; else one that drops everything.
    pub(crate) fn new(is_followed: bool) -> Feed {
        Feed { is_followed, fed: Mutex::default(), wake: Condvar::new() }
    }

    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// Adds a batch that is durable. Leaves `steps` empty.
    pub(crate) fn push(
        &self,
        sequence: u64,
        accepted: impl Iterator<Item = AcceptedMessage>,
        steps: &mut Vec<MessageStep>,
    ) {
        if !self.is_followed {
            return steps.clear();
        }
        let mut fed = self.lock();
        fed.sequence = sequence;
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
        if !self.is_followed {
            return;
        }
        let mut fed = self.lock();
        fed.sequence = fed.sequence.max(sequence);
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

    /// Sets the last batch, when the store is opened, or when a batch has nothing for the record.
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
mod tests {
    use super::*;
    use hermod_domain::ids::PartNo;
    use hermod_domain::time::Timestamp;
    use hermod_engine::steps::{StepId, StepKind};

    fn steps(count: usize) -> Vec<MessageStep> {
        let at = Timestamp::from_millis(1_800_000_000_000);
        let message = MessageId::first_at(at);
        let step =
            |id| MessageStep { id: StepId(id), message, part: PartNo::FIRST, at, kind: StepKind::Cancelled };
        (0..count as u64).map(step).collect()
    }

    fn push(feed: &Feed, sequence: u64, count: usize) {
        feed.push(sequence, std::iter::empty(), &mut steps(count));
    }

    #[test]
    fn follower_takes_everything_once_and_closing_lasts() {
        let feed = Feed::new(true);
        push(&feed, 7, 2);
        push(&feed, 8, 1);
        let mut fed = Fed::default();
        feed.take(Duration::ZERO, 0, &mut fed);
        assert_eq!((fed.sequence, fed.steps.len(), fed.dropped, fed.closed), (8, 3, None, false));
        fed.clear();
        feed.close();
        for _ in 0..2 {
            feed.take(Duration::from_secs(60), 0, &mut fed);
            assert_eq!((fed.sequence, fed.steps.len(), fed.closed), (8, 0, true));
            fed.clear();
        }
    }

    #[test]
    fn full_feed_drops_batches_until_it_is_taken() {
        let feed = Feed::new(true);
        push(&feed, 1, STEPS_MAX);
        push(&feed, 2, 1);
        push(&feed, 3, 1);
        let mut fed = Fed::default();
        feed.take(Duration::from_secs(60), 0, &mut fed);
        assert_eq!((fed.steps.len(), fed.dropped, fed.sequence), (STEPS_MAX, Some(3), 3));
        fed.clear();
        push(&feed, 4, 1);
        feed.take(Duration::ZERO, 0, &mut fed);
        assert_eq!((fed.steps.len(), fed.dropped, fed.sequence), (1, None, 4));
    }

    #[test]
    fn feed_without_a_follower_holds_nothing() {
        let feed = Feed::new(false);
        push(&feed, 1, 5);
        let mut fed = Fed::default();
        feed.take(Duration::ZERO, 0, &mut fed);
        assert_eq!((fed.steps.len(), fed.sequence), (0, 0));
    }
}
