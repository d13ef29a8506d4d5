//! Nodes, and operations by the node that sent them.

use hermod_engine::commands::AnyOutcome;
use serde::{Deserialize, Serialize};

/// The node that sent an operation, and the operation's number there: the first one of a process is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentBy {
    pub node: NodeRun,
    pub number: u64,
    /// Up to this number the node has the answers to all its operations.
    pub settled: u64,
}

/// A node, and which run of it: a process that is started again has the next epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeRun {
    pub(crate) id: u32,
    pub(crate) epoch: u64,
}

/// Outcomes of a node's operations by their numbers; none for one that was cancelled. They are stored with what the operations
/// changed, because the answers may be lost with the node that ran them.
pub(crate) type KeptOutcomes = Vec<(u64, Option<AnyOutcome>)>;
