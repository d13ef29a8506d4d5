//! The answers to operations of another node. The writer adds them after the commit; the node's session sends them together.

use crate::error::StoreError;
use hermod_engine::commands::AnyOutcome;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The node that sent an operation, and the operation's number there: the first one of a process is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentBy {
    pub node: NodeRun,
    pub number: u64,
}

/// A node, and which run of it: a process that is started again has the next epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeRun {
    pub id: u32,
    pub epoch: u64,
}

/// None is the outcome of an operation that was cancelled.
pub(crate) type Answer = Result<Option<AnyOutcome>, StoreError>;

/// The answers that a node's session has not sent yet. There is one per operation that the node waits for, and the node limits
/// those.
#[derive(Default)]
pub(crate) struct Answers {
    waiting: Mutex<Vec<(u64, Answer)>>,
    arrived: Notify,
    /// The highest number that was answered.
    given: AtomicU64,
}

impl Answers {
    fn put(&self, number: u64, answer: Answer) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((number, answer));
        self.given.fetch_max(number, Ordering::AcqRel);
        let first = waiting.len() == 1;
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }

    /// Returns the highest number that was answered. All before it are answered too, because the writer keeps the order.
    pub(crate) fn given(&self) -> u64 {
        self.given.load(Ordering::Acquire)
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
