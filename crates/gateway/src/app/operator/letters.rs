//! What the gateways of several nodes write to each other.

use crate::board::{KeyUse, PostingLetter, TraceLine};
use crate::views::binds::BindsQuery;
use crate::views::carriers::AlarmsQuery;
use crate::world::Use;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_store::record::RequestEntry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::IpAddr;

#[derive(Serialize, Deserialize)]
pub(super) enum NodeLetter {
    /// What the sender has taken from limits that all nodes share.
    Used(Vec<Use>),
    /// The oldest bind of this connection from this address may be dead: find out.
    ProbeBind {
        connection: ConnectionId,
        peer: IpAddr,
    },
    /// What happened at the sender since its last news.
    News(News),
    /// Which node posts webhooks to which endpoint.
    Webhooks(PostingLetter),
    Question {
        number: u64,
        question: Question,
    },
    Answer {
        number: u64,
        node: String,
        answer: Value,
    },
}

#[derive(Serialize, Deserialize)]
pub(super) enum Question {
    Binds(BindsQuery),
    Carriers,
    Alarms(AlarmsQuery),
    /// Says how many alarms were acknowledged.
    AcknowledgeAlarms(AlarmsQuery),
    /// Says whether the carrier was stopped.
    Resume(String),
    /// Says whether there is such a bind.
    Unbind(u64),
    /// Unbinds all binds of a connection.
    UnbindAll(ConnectionId),
    /// Traces PDUs until then, or no longer.
    Trace(Traced, Option<Timestamp>),
    /// Stops the node in order.
    Stop,
}

/// What happened at a node since its last news.
#[derive(Serialize, Deserialize)]
pub(super) struct News {
    pub node: String,
    /// When API keys were last used.
    pub key_uses: Vec<(String, KeyUse)>,
    /// Lines of the request log.
    pub requests: Vec<RequestEntry>,
    /// How often controls were exceeded that only watch.
    pub watched: Vec<(AccountId, String, u64)>,
    pub traced: Vec<(Traced, Vec<TraceLine>)>,
}

impl News {
    pub(super) fn is_empty(&self) -> bool {
        let News { node: _, key_uses, requests, watched, traced } = self;
        key_uses.is_empty() && requests.is_empty() && watched.is_empty() && traced.is_empty()
    }
}

/// Whose PDUs are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Traced {
    Carrier(CarrierId),
    Connection(ConnectionId),
}
