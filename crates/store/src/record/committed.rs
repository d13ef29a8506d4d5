//! Batches on their way to the records of other nodes. Each node follows the engine as the engine's own follower does, and reads
//! the tables only for what it missed.

use hermod_domain::erasure::{ErasureScope, KeptErasure};
use hermod_domain::ids::MessageId;
use hermod_domain::money::Money;
use hermod_engine::ops::Acceptance;
use hermod_engine::steps::MessageStep;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::mpsc;

/// Batches that may wait for the connection to a node. Beyond that the node misses some.
const UNSENT_MAX: usize = 256;

/// A message that was just accepted.
#[derive(Clone)]
pub(crate) struct AcceptedMessage {
    pub id: MessageId,
    /// The account's balance after its charge.
    pub balance: Money,
    pub acceptance: Arc<Acceptance>,
}

/// A batch that is durable.
#[derive(Serialize, Deserialize)]
pub(crate) struct Committed {
    /// The batch before it. A node that has another one has missed some.
    pub previous: u64,
    pub sequence: u64,
    pub accepted: Vec<AcceptedMessage>,
    pub steps: Vec<MessageStep>,
    pub erased: Vec<RecordErasure>,
}

/// What a record erases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RecordErasure {
    /// A number, in messages that have ended.
    Messages(ErasureScope),
    /// The digests of these numbers, in the request log. It has numbers that no message has, so the numbers need not be known.
    Requests(Vec<KeptErasure>),
}

/// What a batch erased.
#[derive(Default)]
pub(crate) struct Erasures {
    pub all: Vec<RecordErasure>,
    /// Those that other nodes requested. For a request on this node, `ErasureStore::erase_number` erases in the record.
    pub by_other_nodes: Vec<RecordErasure>,
}

/// A batch for all nodes, which is encoded once.
pub(crate) struct PassedOn {
    pub committed: Arc<Committed>,
    pub encoded: OnceLock<Option<Vec<u8>>>,
}

/// The nodes whose records follow this engine.
#[derive(Default)]
pub(crate) struct Followers {
    nodes: Mutex<Vec<mpsc::Sender<Arc<PassedOn>>>>,
    count: AtomicUsize,
}

impl Followers {
    /// Returns the batches from now on, for one node. Dropping the receiver ends it.
    pub(crate) fn add(&self) -> mpsc::Receiver<Arc<PassedOn>> {
        let (sender, receiver) = mpsc::channel(UNSENT_MAX);
        let mut nodes = self.lock();
        nodes.push(sender);
        self.count.store(nodes.len(), Ordering::Release);
        receiver
    }

    pub(crate) fn are_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Passes a batch on to all nodes. One that is too slow misses it.
    pub(crate) fn pass_on(&self, committed: Committed) {
        let batch = Arc::new(PassedOn { committed: Arc::new(committed), encoded: OnceLock::new() });
        let mut nodes = self.lock();
        nodes.retain(|node| !node.is_closed());
        self.count.store(nodes.len(), Ordering::Release);
        for node in nodes.iter() {
            let _ = node.try_send(batch.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<mpsc::Sender<Arc<PassedOn>>>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Serialize for AcceptedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.id, self.balance, &*self.acceptance).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AcceptedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AcceptedMessage, D::Error> {
        let (id, balance, acceptance) = <(MessageId, Money, Acceptance)>::deserialize(deserializer)?;
        Ok(AcceptedMessage { id, balance, acceptance: Arc::new(acceptance) })
    }
}
