//! The answers to operations of another node. The writer adds them after the commit; the node's session sends them together.

use crate::backend::SentBy;
use crate::error::StoreError;
use hermod_engine::commands::AnyOutcome;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, watch};

/// None is the outcome of an operation that was cancelled.
pub(crate) type Answer = Result<Option<AnyOutcome>, StoreError>;

/// What was answered so far.
#[derive(Default)]
struct Given {
    /// The highest number.
    number: u64,
    /// Whether an operation was refused because the engine is being stopped. It was not run, nor was any after it.
    is_closed: bool,
}

/// The answers that a node's session has not sent yet. There is one per operation that the node waits for, and the node limits
/// those.
#[derive(Default)]
pub(crate) struct UnsentAnswers {
    waiting: Mutex<Vec<(u64, Answer)>>,
    arrived: Notify,
    given: watch::Sender<Given>,
}

impl UnsentAnswers {
    fn put(&self, number: u64, answer: Answer) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((number, answer));
        let is_refused = matches!(waiting.last(), Some((_, Err(StoreError::Closed))));
        self.given.send_modify(|given| {
            if is_refused {
                given.is_closed = true;
            } else {
                given.number = number.max(given.number);
            }
        });
        let first = waiting.len() == 1;
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }

    /// Waits until this number is answered. All before it are answered too, because the writer keeps the order. Fails with
    /// [`StoreError::Closed`] if the engine was stopped before.
    pub(crate) async fn wait_for(&self, number: u64) -> Result<(), StoreError> {
        let mut given = self.given.subscribe();
        let reached = given.wait_for(|given| given.is_closed || given.number >= number).await;
        // The sender is here.
        if reached.is_ok_and(|given| !given.is_closed) { Ok(()) } else { Err(StoreError::Closed) }
    }

    /// Waits until there may be answers to take.
    pub(crate) async fn wait(&self) {
        self.arrived.notified().await;
    }

    /// Takes the answers that came since the last call.
    pub(crate) fn take(&self) -> Vec<(u64, Answer)> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the answer to an operation of another node goes.
pub(crate) struct NodeReply {
    pub sent_by: SentBy,
    pub answers: Arc<UnsentAnswers>,
}

impl NodeReply {
    pub(crate) fn send(self, answer: Answer) {
        self.answers.put(self.sent_by.number, answer);
    }
}
