//! What an operator asks of the other nodes.

use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_gateway::node_messages::Traced;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
pub(crate) enum NodeQuery {
    Binds {
        system_id: Option<String>,
        account: Option<String>,
    },
    Carriers,
    Alarms {
        carrier: Option<String>,
    },
    /// Returns how many alarms were acknowledged.
    AcknowledgeAlarms {
        carrier: Option<String>,
    },
    /// Returns whether the carrier was stopped.
    Resume(String),
    /// Returns whether there is such a bind.
    Unbind(u64),
    /// Unbinds all binds of a connection.
    UnbindAll(ConnectionId),
    /// Traces PDUs until then, or no longer.
    Trace(Traced, Option<Timestamp>),
    /// Stops the node in order.
    Stop,
}

impl From<NodeQuery> for Value {
    fn from(query: NodeQuery) -> Value {
        serde_json::to_value(query).expect("a query has texts and numbers only")
    }
}
