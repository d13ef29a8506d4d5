//! The queue of operations between the callers and the writer. It decides when the writer begins a batch: at once for an
//! operation whose caller waits, unless it is a submission and others are about to come (`gather.rs`); for results of
//! carriers and receivers with the next such operation, or a few milliseconds later. A commit costs much the same for one operation as for fifty, so the customers' requests set the pace.

use super::BATCH_OPS_MAX;
use super::gather::{GATHER_TIME, Gather};
use super::operation::{Op, Urgency};
use crate::error::StoreError;
use hermod_domain::ids::CarrierId;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};

/// Maximum number of operations in the writer's queue. Beyond that a submission is rejected with HTTP 503 rather than left to
/// time out.
pub(crate) const QUEUE_OPS_MAX: usize = 8_192;
/// How long results of links and webhooks wait for a customer's request that is written with them. They wait only if the last
/// request is not longer ago: otherwise the next one is not expected soon.
const RESULTS_WAIT_MAX: Duration = Duration::from_millis(5);
/// How long results of reports wait. No peer waits for them.
const REPORT_RESULTS_WAIT_MAX: Duration = Duration::from_millis(20);
/// Customers count as submitting for this long after a submission.
const SUBMITTING_FOR: Duration = Duration::from_secs(1);
/// Receipts and MO messages that wait together at most. Carriers send some ten before they wait for an acknowledgement.
const UNACKNOWLEDGED_MAX: usize = 8;

/// Creates a queue: the end for callers and the end for the writer.
pub(crate) fn queue() -> (Callers, Arc<OpQueue>) {
    let queue = Arc::new(OpQueue {
        free: Semaphore::new(QUEUE_OPS_MAX),
        state: Mutex::default(),
        arrived: Condvar::new(),
    });
    (Callers(queue.clone()), queue)
}

/// The callers' end. Dropping it ends the writer once the queue is empty.
pub(crate) struct Callers(Arc<OpQueue>);

impl Callers {
    /// Waits for a free place in the queue. Fails with [`StoreError::Closed`].
    pub(crate) async fn reserve(&self) -> Result<Place<'_>, StoreError> {
        let permit = self.0.free.acquire().await.map_err(|_| StoreError::Closed)?;
        Ok(Place { queue: &self.0, permit })
    }

    /// Returns a place in the queue. Fails with [`StoreError::QueueFull`] or [`StoreError::Closed`].
    pub(crate) fn try_reserve(&self) -> Result<Place<'_>, StoreError> {
        let permit = self.0.free.try_acquire().map_err(|error| match error {
            TryAcquireError::NoPermits => StoreError::QueueFull(QUEUE_OPS_MAX),
            TryAcquireError::Closed => StoreError::Closed,
        })?;
        Ok(Place { queue: &self.0, permit })
    }
}

impl Drop for Callers {
    fn drop(&mut self) {
        self.0.lock().callers_gone = true;
        self.0.arrived.notify_one();
    }
}

/// A reserved place in the queue.
#[must_use = "a place that is dropped is free again"]
pub(crate) struct Place<'a> {
    queue: &'a OpQueue,
    permit: SemaphorePermit<'a>,
}

impl Place<'_> {
    /// Queues an operation. Fails the operation if the queue was closed meanwhile.
    pub(crate) fn send(self, op: Op) {
        let mut state = self.queue.lock();
        if state.closed {
            drop(state);
            return op.fail(StoreError::Closed);
        }
        // The writer frees the place when it takes the operation.
        self.permit.forget();
        let wakes = state.push(op, now());
        drop(state);
        if wakes {
            self.queue.arrived.notify_one();
        }
    }
}

/// The queue, and the writer's end of it.
pub(crate) struct OpQueue {
    free: Semaphore,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    ops: VecDeque<Op>,
    begin: Begin,
    /// When the last operation was queued whose caller waits.
    last_request: Option<Instant>,
    gather: Gather,
    last_submission: Option<Instant>,
    /// Submissions among the operations, and when the first of them was queued.
    submissions: usize,
    first_submission: Option<Instant>,
    /// Receipts and MO messages among the operations.
    unacknowledged: usize,
    /// While a backlog drains: the most results that a batch takes.
    drain: Option<usize>,
    /// While a backlog drains: whether the last batch was one of submissions.
    took_submissions: bool,
    /// Carriers with parts that wait for a slot. Their links' results bring slots and are not delayed.
    short_of_slots: Vec<CarrierId>,
    /// The writer is to look after the database, also without operations.
    woken: bool,
    closed: bool,
    callers_gone: bool,
    /// How many of the first operations occupy no place.
    without_place: usize,
}

/// When the writer begins the next batch.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Begin {
    AtOnce,
    At(Instant),
    #[default]
    WhenNeeded,
}

impl State {
    /// Whether nothing more is to be done than what is queued.
    fn is_stopping(&self) -> bool {
        self.callers_gone || self.ops.iter().any(|op| matches!(op, Op::Stop(_)))
    }

    /// Adds an operation. Returns whether the writer must look at the queue again.
    fn push(&mut self, op: Op, now: Instant) -> bool {
        let begin = self.begin_for(&op, now);
        self.ops.push_back(op);
        let sooner = begin < self.begin;
        self.begin = self.begin.min(begin);
        sooner
    }

    fn begin_for(&mut self, op: &Op, now: Instant) -> Begin {
        match op.urgency() {
            Urgency::Request => {
                self.last_request = Some(now);
                Begin::AtOnce
            }
            Urgency::Submission => {
                self.last_request = Some(now);
                self.last_submission = Some(now);
                self.submissions += 1;
                let first = *self.first_submission.get_or_insert(now);
                if self.gather.is_enough(self.submissions) {
                    Begin::AtOnce
                } else {
                    Begin::At(first + GATHER_TIME)
                }
            }
            Urgency::LinkResults { carrier, unacknowledged } => {
                self.unacknowledged += unacknowledged;
                let stalls =
                    self.unacknowledged >= UNACKNOWLEDGED_MAX || self.short_of_slots.contains(&carrier);
                if stalls { Begin::AtOnce } else { self.begin_with_request(now) }
            }
            Urgency::WebhookResults => self.begin_with_request(now),
            Urgency::ReportResults => self.begin_after(REPORT_RESULTS_WAIT_MAX, now),
        }
    }

    /// Returns when to begin for results that a peer waits for: with the next request, if one is expected soon.
    fn begin_with_request(&self, now: Instant) -> Begin {
        match self.last_request {
            Some(last) if now.duration_since(last) <= RESULTS_WAIT_MAX => {
                self.begin_after(RESULTS_WAIT_MAX, now)
            }
            _ => Begin::AtOnce,
        }
    }

    fn begin_after(&self, wait: Duration, now: Instant) -> Begin {
        if self.ops.len() < BATCH_OPS_MAX { Begin::At(now + wait) } else { Begin::AtOnce }
    }

    /// Moves operations to `batch` while a backlog drains, submissions and all others in turn: so a submission waits for one batch of
    /// the drain, and its own is short.
    fn take_in_turn(&mut self, results_max: usize, batch: &mut Vec<Op>) {
        self.took_submissions = !self.took_submissions && self.ops.iter().any(Op::passes_others);
        let (mut room, mut results) = (BATCH_OPS_MAX, results_max);
        for op in std::mem::take(&mut self.ops) {
            if room > 0 && op.passes_others() == self.took_submissions {
                results = results.saturating_sub(op.results());
                // The others keep their order.
                room = if results > 0 { room - 1 } else { 0 };
                batch.push(op);
            } else {
                self.ops.push_back(op);
            }
        }
    }

    /// Moves the first operations to `batch`. The rest, if any, is the next batch, at once.
    fn take(&mut self, batch: &mut Vec<Op>, now: Instant) {
        match self.drain {
            Some(results_max) if !self.is_stopping() => self.take_in_turn(results_max, batch),
            Some(_) | None => batch.extend(self.ops.drain(..self.ops.len().min(BATCH_OPS_MAX))),
        }
        if let Some(first) = self.first_submission.take() {
            let waited = now.duration_since(first) >= GATHER_TIME;
            self.gather.learn(std::mem::take(&mut self.submissions), waited);
        }
        self.unacknowledged = 0;
        self.begin = if self.ops.is_empty() { Begin::WhenNeeded } else { Begin::AtOnce };
    }
}

impl OpQueue {
    /// Waits until a batch is to be written, and moves its operations to `batch`. Also returns, with an empty batch, at
    /// `upkeep_at` and after [`OpQueue::wake_writer`]. Returns false once the callers are gone and the queue is empty.
    pub(crate) fn wait(&self, upkeep_at: Option<Instant>, batch: &mut Vec<Op>) -> bool {
        let mut state = self.lock();
        loop {
            if state.callers_gone && state.ops.is_empty() {
                return false;
            }
            if std::mem::take(&mut state.woken) && state.begin != Begin::AtOnce {
                return true;
            }
            let begin = state.begin.min(upkeep_at.map_or(Begin::WhenNeeded, Begin::At));
            let wait = match begin {
                _ if state.callers_gone => Some(Duration::ZERO),
                Begin::AtOnce => Some(Duration::ZERO),
                Begin::At(at) => Some(at.saturating_duration_since(now())),
                Begin::WhenNeeded => None,
            };
            state = match wait {
                Some(Duration::ZERO) if begin < state.begin && !state.callers_gone => return true,
                Some(Duration::ZERO) => break,
                Some(wait) => {
                    self.arrived.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        self.take(state, batch);
        true
    }

    /// Waits at most `wait` until there are operations, and moves the first of them to `batch`. Also returns, with an empty
    /// batch, after [`OpQueue::wake_writer`]. Returns false once the callers are gone and the queue is empty.
    pub(crate) fn wait_for_any(&self, wait: Duration, batch: &mut Vec<Op>) -> bool {
        let mut state = self.lock();
        if state.ops.is_empty() && !state.woken && !state.callers_gone {
            state = self.arrived.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.woken = false;
        let ended = state.callers_gone && state.ops.is_empty();
        self.take(state, batch);
        !ended
    }

    /// Waits at most `wait` for [`OpQueue::wake_writer`], and leaves the operations in the queue. Returns false if the writer is
    /// to stop, or the callers are gone.
    pub(crate) fn wait_for_wake(&self, wait: Duration) -> bool {
        let mut state = self.lock();
        if !state.woken && !state.is_stopping() {
            state = self.arrived.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.woken = false;
        !state.is_stopping()
    }

    /// Puts operations before all others. They may be more than the queue's limit.
    pub(crate) fn put_back(&self, ops: Vec<Op>) {
        let mut state = self.lock();
        // Taking them frees as many places.
        state.without_place += ops.len();
        ops.into_iter().rev().for_each(|op| state.ops.push_front(op));
        state.begin = Begin::AtOnce;
        drop(state);
        self.arrived.notify_one();
    }

    /// Makes [`OpQueue::wait`] return at once, without the operations that still wait for a request.
    pub(crate) fn wake_writer(&self) {
        self.lock().woken = true;
        self.arrived.notify_one();
    }

    /// Moves the operations that are queued now to `batch`, without waiting. Returns false once the callers are gone and the
    /// queue is empty.
    pub(crate) fn take_queued(&self, batch: &mut Vec<Op>) -> bool {
        let state = self.lock();
        let ended = state.callers_gone && state.ops.is_empty();
        self.take(state, batch);
        !ended
    }

    fn take(&self, mut state: MutexGuard<'_, State>, batch: &mut Vec<Op>) {
        state.take(batch, now());
        let without_place = state.without_place.min(batch.len());
        state.without_place -= without_place;
        drop(state);
        self.free.add_permits(batch.len() - without_place);
    }

    /// Sets the carriers that have parts waiting for a slot. Results of their links begin a batch at once.
    pub(crate) fn set_short_of_slots(&self, carriers: Vec<CarrierId>) {
        self.lock().short_of_slots = carriers;
    }

    /// Sets how many results a batch takes at most while a backlog drains; none if none drains.
    pub(crate) fn set_drain(&self, results_max: Option<usize>) {
        self.lock().drain = results_max;
    }

    /// Returns whether customers submit messages at the moment.
    pub(crate) fn is_submitting(&self) -> bool {
        self.lock().last_submission.is_some_and(|last| now().duration_since(last) <= SUBMITTING_FOR)
    }

    /// Rejects further operations, and returns those that are queued.
    pub(crate) fn close(&self) -> VecDeque<Op> {
        self.free.close();
        let mut state = self.lock();
        state.closed = true;
        std::mem::take(&mut state.ops)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No holder panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::disallowed_methods, reason = "saves commits in real time, also under a test's clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}
#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
