//! Views of the binds of customers: who is bound, from where, and what the bind carries.

use crate::carrier::views::{LastErrorView, tenths};
use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::BindSnapshot;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct BindsQuery {
    /// Only binds of this system_id.
    pub system_id: Option<String>,
    /// Only binds of this account.
    pub account: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BindsView {
    /// The gateway's time.
    pub at: String,
    /// The oldest bind first.
    pub items: Vec<BindView>,
    /// Nodes that did not answer: their binds are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

/// A customer's bind: who, since when, and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BindView {
    /// Counts from 1 since the gateway started.
    pub number: u64,
    /// The node that it is bound to, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[schema(examples("shop"))]
    pub system_id: String,
    #[schema(examples("shop"))]
    pub account: String,
    #[schema(examples("192.0.2.7"))]
    pub address: String,
    /// `transmitter`, `receiver` or `transceiver`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The SMPP version: `3.4` or `3.3`.
    pub version: String,
    pub tls: bool,
    /// `address_range` of the bind request. Not used for routing.
    pub address_range: String,
    pub since: String,
    /// Seconds since then.
    pub for_s: u64,
    /// Requests that may wait for responses, in either direction.
    pub window: u32,
    /// Requests of the customer that wait for a response.
    pub window_in: u32,
    /// Requests of the gateway that wait for a response.
    pub window_out: u32,
    /// Average of the last ten seconds.
    pub submits_per_second: f64,
    pub submits: u64,
    /// Submits that were rejected.
    pub refused: u64,
    /// Receipts that the customer acknowledged.
    pub receipts: u64,
    /// Receipts queued for this system_id, on all its binds together.
    pub receipts_waiting: u64,
    pub last_error: Option<LastErrorView>,
}

impl BindView {
    pub fn new(bind: BindSnapshot, account: String, receipts_waiting: u64, now: Timestamp) -> BindView {
        BindView {
            number: bind.number,
            node: None,
            system_id: bind.system_id.to_string(),
            account,
            address: bind.peer.to_string(),
            kind: bind.kind.as_str().to_owned(),
            version: if bind.is_3_4 { "3.4" } else { "3.3" }.to_owned(),
            tls: bind.tls,
            address_range: bind.address_range,
            since: bind.since.to_iso(),
            for_s: now.since(bind.since).as_secs(),
            window: bind.window,
            window_in: bind.window_in,
            window_out: bind.window_out,
            submits_per_second: tenths(bind.submits_per_10_s),
            submits: bind.submits,
            refused: bind.refused,
            receipts: bind.receipts,
            receipts_waiting,
            last_error: bind.last_error.map(LastErrorView::from),
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct UnbindQuery {
    /// The node that it is bound to, if it is not the one that is asked.
    pub node: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnbindView {
    /// The number of the bind that is being unbound.
    pub bind: u64,
}
