//! Questions to other nodes, and the answers as they arrive.

use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// Answers to one question: more than there are nodes.
const ANSWERS_MAX: usize = 256;

/// Bounded by the requests of operators, which wait for the answers.
#[derive(Default)]
pub struct PendingQueries {
    numbers: AtomicU64,
    waiting: Mutex<HashMap<u64, mpsc::Sender<NodeAnswer>>>,
}

/// What a node answers.
pub struct NodeAnswer {
    pub node: String,
    pub answer: Value,
}

/// A question. Dropping it ends the wait.
pub struct PendingQuery<'a> {
    all: &'a PendingQueries,
    pub number: u64,
    answers: mpsc::Receiver<NodeAnswer>,
}

impl PendingQueries {
    pub fn begin(&self) -> PendingQuery<'_> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = mpsc::channel(ANSWERS_MAX);
        self.waiting.lock().insert(number, sender);
        PendingQuery { all: self, number, answers }
    }

    /// Passes an answer to the request that waits for it. If that has ended, the answer is dropped.
    pub fn put(&self, number: u64, answer: NodeAnswer) {
        if let Some(asker) = self.waiting.lock().get(&number) {
            // The asker may be gone. More answers than that are not asked for.
            let _ = asker.try_send(answer);
        }
    }
}

impl PendingQuery<'_> {
    pub async fn next(&mut self) -> Option<NodeAnswer> {
        self.answers.recv().await
    }
}

impl Drop for PendingQuery<'_> {
    fn drop(&mut self) {
        self.all.waiting.lock().remove(&self.number);
    }
}
