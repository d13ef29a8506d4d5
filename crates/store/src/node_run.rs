//! Nodes, and operations by the node that sent them.

use serde::{Deserialize, Serialize};

/// The node that sent an operation, and the operation's number there: the first one of a process is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentBy {
    pub node: NodeRun,
    pub number: u64,
}

/// A node, and which run of it: a process that is started again has the next epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeRun {
    pub(crate) id: u32,
    pub(crate) epoch: u64,
}
