//! Views of the nodes of a cluster.

use hermod_store::NodeInfo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodesView {
    /// The gateway's time.
    pub at: String,
    /// In the order in which they first started. Empty if the store is embedded.
    pub items: Vec<NodeView>,
}

/// A node that is being stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoppingView {
    #[schema(examples("a"))]
    pub node: String,
}

/// A node that shares the store with this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    #[schema(examples("a"))]
    pub name: String,
    /// `engine` for the node that makes the decisions, `serving` for the others, `lost` for one whose lease has expired.
    pub state: String,
    /// Where other nodes reach it; empty if they cannot.
    #[schema(examples("10.0.0.1:2777"))]
    pub address: String,
    pub version: String,
    /// Whether it is the node that responds.
    pub this: bool,
}

impl From<NodeInfo> for NodeView {
    fn from(node: NodeInfo) -> NodeView {
        let NodeInfo { name, address, version, is_alive, runs_engine, is_this, run: _ } = node;
        let state = match (is_alive, runs_engine) {
            (false, _) => "lost",
            (true, true) => "engine",
            (true, false) => "serving",
        };
        NodeView { name, state: state.to_owned(), address, version, this: is_this }
    }
}
