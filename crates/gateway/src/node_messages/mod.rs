//! Messages between the nodes on one database. The node that an operator asks queries the others; every second each node
//! announces what happened at it. A message can be lost.

mod announcements;
mod queries;

pub use announcements::{announce, switch_trace};
pub use queries::{own_name, query_node, query_others};

use crate::gateway::{Gateway, Use};
use crate::live_status::{KeyUse, NodeAnswer, Order, PostingMessage, PostingNotice, PostingOrder, TraceLine};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_store::record::RequestEntry;
use hermod_store::{NodeEnvelope, NodeRun};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::IpAddr;

#[derive(Serialize, Deserialize)]
enum NodeMessage {
    /// What the sender has taken from limits that all nodes share.
    Used(Vec<Use>),
    /// The oldest bind of this connection from this address may be dead: find out.
    ProbeBind {
        connection: ConnectionId,
        peer: IpAddr,
    },
    Announcement(Announcement),
    /// Which node posts webhooks to which endpoint.
    Webhooks(PostingMessage),
    /// What an operator asks of other nodes. The operator's side knows what it means.
    Query {
        number: u64,
        query: Value,
    },
    Answer {
        number: u64,
        node: String,
        answer: Value,
    },
}

/// What happened at a node since its last announcement.
#[derive(Serialize, Deserialize)]
struct Announcement {
    node: String,
    /// When API keys were last used.
    key_uses: Vec<(String, KeyUse)>,
    /// Lines of the request log.
    requests: Vec<RequestEntry>,
    /// How often controls were exceeded that only watch.
    watched: Vec<(AccountId, String, u64)>,
    traced: Vec<(Traced, Vec<TraceLine>)>,
}

/// Whose PDUs are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Traced {
    Carrier(CarrierId),
    Connection(ConnectionId),
}

fn send(gateway: &Gateway, to: Option<NodeRun>, message: &NodeMessage) {
    match serde_json::to_vec(message) {
        Ok(octets) => gateway.store.cluster().send_envelope(to, octets),
        Err(error) => tracing::error!(%error, "A message to another node could not be written"),
    }
}

/// Tells the other nodes what was taken here from limits that all nodes share.
pub fn share_limits(gateway: &Gateway) {
    let uses = gateway.take_used();
    if !uses.is_empty() {
        send(gateway, None, &NodeMessage::Used(uses));
    }
}

/// Has the other nodes find out whether a bind of a customer is dead that may be bound there.
pub fn probe_bind_elsewhere(gateway: &Gateway, connection: ConnectionId, peer: IpAddr) {
    send(gateway, None, &NodeMessage::ProbeBind { connection, peer });
}

/// Tells another node which webhooks to post. Only the node with the engine does.
pub fn order_webhook_posts(gateway: &Gateway, to: NodeRun, order: PostingOrder) {
    send(gateway, Some(to), &NodeMessage::Webhooks(PostingMessage::Order(order)));
}

/// Tells the node with the engine which webhooks this one posts. Does nothing while no other node has it.
pub fn tell_webhook_posts(gateway: &Gateway, notice: PostingNotice) {
    let engine = gateway.store.cluster().nodes().into_iter().find(|node| node.runs_engine && !node.is_this);
    if let Some(engine) = engine {
        send(gateway, Some(engine.run), &NodeMessage::Webhooks(PostingMessage::Notice(notice)));
    }
}

/// A query of another node.
pub struct ReceivedQuery {
    pub asker: Asker,
    pub query: Value,
}

/// A node that waits for the answer to a query.
pub struct Asker {
    node: NodeRun,
    number: u64,
}

impl Asker {
    pub fn answer(self, gateway: &Gateway, answer: Value) {
        let node = own_name(gateway).unwrap_or_default();
        send(gateway, Some(self.node), &NodeMessage::Answer { number: self.number, node, answer });
    }
}

/// Acts on a message of another node. Returns its query, if it is one.
pub fn receive(gateway: &Gateway, NodeEnvelope { from, octets, .. }: &NodeEnvelope) -> Option<ReceivedQuery> {
    // A node of another release may say what this one does not understand.
    match serde_json::from_slice(octets).ok()? {
        NodeMessage::Used(uses) => gateway.charge_used(uses),
        NodeMessage::ProbeBind { connection, peer } => {
            if let Some(bind) = gateway.binds.oldest_from(connection, peer) {
                bind.order(Order::Probe);
            }
        }
        NodeMessage::Announcement(announced) => announcements::note(gateway, announced),
        NodeMessage::Webhooks(said) => drop(gateway.webhook_posting.put((*from, said))),
        NodeMessage::Query { number, query } => {
            return Some(ReceivedQuery { asker: Asker { node: *from, number }, query });
        }
        NodeMessage::Answer { number, node, answer } => {
            gateway.node_queries.put(number, NodeAnswer { node, answer })
        }
    }
    None
}
