//! Envelopes: what the gateway of one node tells that of another. The store carries them and does not read them; the node with the
//! engine passes them on. An envelope can be lost, with a connection or because too many wait.

use crate::backend::NodeRun;
use metrics::counter;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc;

/// Envelopes that wait to be read.
const UNREAD_MAX: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEnvelope {
    pub from: NodeRun,
    /// None for all other nodes.
    pub to: Option<NodeRun>,
    pub octets: Vec<u8>,
}

impl NodeEnvelope {
    pub(crate) fn is_for(&self, node: NodeRun) -> bool {
        self.from != node && self.to.is_none_or(|to| to == node)
    }
}

/// The envelopes to this node.
pub(crate) struct Inbox {
    arriving: mpsc::Sender<NodeEnvelope>,
    unread: Mutex<Option<mpsc::Receiver<NodeEnvelope>>>,
}

impl Default for Inbox {
    fn default() -> Inbox {
        let (arriving, unread) = mpsc::channel(UNREAD_MAX);
        Inbox { arriving, unread: Mutex::new(Some(unread)) }
    }
}

impl Inbox {
    pub(crate) fn put(&self, envelope: NodeEnvelope) {
        if self.arriving.try_send(envelope).is_err() {
            count_lost();
        }
    }

    /// Returns the envelopes that arrive; none if it was called before.
    pub(crate) fn open(&self) -> Option<mpsc::Receiver<NodeEnvelope>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Counts an envelope that was not carried.
pub(crate) fn count_lost() {
    counter!("hermod_node_messages_lost_total").increment(1);
}
