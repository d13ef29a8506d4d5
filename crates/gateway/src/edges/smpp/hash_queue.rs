//! The queue of password hashes. A hash costs 20 ms and 19 MiB, so two are computed at a time and the others wait.
//! Known callers go first, and strangers are rejected early, so that strangers from any number of addresses cannot
//! delay a customer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
            let mut state = self.state();
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
            let mut state = self.state();
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::pin::Pin;

    type Waiting = Pin<Box<dyn Future<Output = Option<Turn>>>>;

    fn asks(queue: &Arc<HashQueue>, caller: CallerKind) -> Waiting {
        let queue = queue.clone();
        Box::pin(async move { queue.turn(caller).await })
    }

    /// Polls once: its turn, `Some(None)` if rejected, `None` if still waiting.
    fn asked(waiting: &mut Waiting) -> Option<Option<Turn>> {
        waiting.now_or_never()
    }

    #[tokio::test]
    async fn known_caller_goes_before_waiting_strangers() {
        let queue = HashQueue::new();
        let mut running: Vec<Turn> = Vec::new();
        for _ in 0..HASHES_AT_ONCE {
            running.extend(queue.turn(CallerKind::Stranger).await);
        }
        let mut strangers: Vec<Waiting> = Vec::new();
        for _ in 0..STRANGERS_WAITING_MAX {
            let mut stranger = asks(&queue, CallerKind::Stranger);
            assert!(asked(&mut stranger).is_none(), "it waits");
            strangers.push(stranger);
        }
        let shed = asks(&queue, CallerKind::Stranger).now_or_never();
        assert!(matches!(shed, Some(None)), "one more stranger is rejected at once");
        let mut known = asks(&queue, CallerKind::Known);
        assert!(asked(&mut known).is_none());
        running.pop();
        let turn = asked(&mut known).flatten();
        assert!(turn.is_some(), "the first free turn is the known caller's");
        assert!(asked(&mut strangers[0]).is_none());
        drop(turn);
        assert!(asked(&mut strangers[0]).flatten().is_some(), "then the stranger that came first");
    }

    #[tokio::test]
    async fn turn_of_a_disconnected_caller_goes_to_the_next() {
        let queue = HashQueue::new();
        let mut running = vec![queue.turn(CallerKind::Known).await, queue.turn(CallerKind::Known).await];
        let mut gone = asks(&queue, CallerKind::Stranger);
        let mut taken = asks(&queue, CallerKind::Stranger);
        let mut next = asks(&queue, CallerKind::Stranger);
        for waiting in [&mut gone, &mut taken, &mut next] {
            assert!(asked(waiting).is_none());
        }
        drop(gone);
        running.pop();
        drop(taken);
        assert!(asked(&mut next).flatten().is_some(), "the turn is not lost");
        running.clear();
        drop(next);
        let again: Vec<bool> = vec![
            queue.turn(CallerKind::Stranger).await.is_some(),
            queue.turn(CallerKind::Stranger).await.is_some(),
        ];
        assert_eq!(again, [true, true], "all turns are free again");
    }
}
