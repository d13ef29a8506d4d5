//! The queue of password hashes. A hash costs 20 ms and 19 MiB, so two are computed at a time and the others wait.
//! Known callers go first, and strangers are rejected early, so that strangers from any number of addresses cannot
//! delay a customer.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Passwords hashed at one time.
const HASHES_AT_ONCE: usize = 2;
/// Known callers that may wait.
const KNOWN_WAITING_MAX: usize = 200;
/// Strangers that may wait: about a second of hashing.
const STRANGERS_WAITING_MAX: usize = 100;

/// Whether a caller goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallerKind {
    /// Its address is on the allow-list of the connection, or has authenticated before.
    Known,
    Stranger,
}

pub(super) struct HashQueue(Mutex<State>);

struct State {
    free: usize,
    known: VecDeque<oneshot::Sender<Turn>>,
    strangers: VecDeque<oneshot::Sender<Turn>>,
}

/// Permission to compute one hash. Dropping it admits the next caller.
pub(super) struct Turn(Arc<HashQueue>);

impl HashQueue {
    pub(super) fn new() -> Arc<HashQueue> {
        let (known, strangers) = (VecDeque::new(), VecDeque::new());
        Arc::new(HashQueue(Mutex::new(State { free: HASHES_AT_ONCE, known, strangers })))
    }

    /// Waits for a turn. Returns `None` at once if the queue of its kind is full.
    pub(super) async fn turn(self: &Arc<HashQueue>, caller: CallerKind) -> Option<Turn> {
        let turn = {
            let mut state = self.0.lock();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Some(Turn(self.clone()));
            }
            let (queue, waiting_max) = match caller {
                CallerKind::Known => (&mut state.known, KNOWN_WAITING_MAX),
                CallerKind::Stranger => (&mut state.strangers, STRANGERS_WAITING_MAX),
            };
            // Callers that disconnected meanwhile do not count.
            queue.retain(|waiting| !waiting.is_closed());
            if queue.len() >= waiting_max {
                return None;
            }
            let (turn, given) = oneshot::channel();
            queue.push_back(turn);
            given
        };
        turn.await.ok()
    }

    fn pass_on(self: &Arc<HashQueue>) {
        let next = {
            let mut state = self.0.lock();
            let next = state.known.pop_front().or_else(|| state.strangers.pop_front());
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        // A turn whose caller has disconnected is dropped, which admits the next.
        if let Some(next) = next {
            drop(next.send(Turn(self.clone())));
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

#[cfg(test)]
#[path = "hash_queue_tests.rs"]
mod tests;
