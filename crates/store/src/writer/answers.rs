//! The answers to operations of another node. The writer adds them after the commit; the node's session sends them together.

use crate::error::StoreError;
use crate::node_run::SentBy;
use hermod_engine::commands::AnyOutcome;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, watch};

/// None is the outcome of an operation that was cancelled.
pub(crate) type Answer = Result<Option<AnyOutcome>, StoreError>;

/// The answers that a node's session has not sent yet. There is one per operation that the node waits for, and the node limits
/// those.
#[derive(Default)]
pub(crate) struct Answers {
    waiting: Mutex<Vec<(u64, Answer)>>,
    arrived: Notify,
    /// The highest number that was answered.
    given: watch::Sender<u64>,
}

impl Answers {
    fn put(&self, number: u64, answer: Answer) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((number, answer));
        self.given.send_if_modified(|given| std::mem::replace(given, number.max(*given)) < number);
        let first = waiting.len() == 1;
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }

    /// Waits until this number is answered. All before it are answered too, because the writer keeps the order.
    pub(crate) async fn wait_for(&self, number: u64) {
        let mut given = self.given.subscribe();
        // The sender is here.
        let _ = given.wait_for(|given| *given >= number).await;
    }

    /// Waits for answers, and returns all that came since the last call. Dropping the future loses nothing.
    pub(crate) async fn take(&self) -> Vec<(u64, Answer)> {
        loop {
            let answers = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !answers.is_empty() {
                return answers;
            }
            self.arrived.notified().await;
        }
    }
}

/// Where the answer to an operation of another node goes.
pub(crate) struct NodeReply {
    pub sent_by: SentBy,
    pub answers: Arc<Answers>,
}

impl NodeReply {
    pub(crate) fn send(self, answer: Answer) {
        self.answers.put(self.sent_by.number, answer);
    }
}
