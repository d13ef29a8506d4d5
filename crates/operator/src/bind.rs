//! Customers' binds: who is bound, from where, what a bind carries; and unbinding one.

use crate::author::Acting;
use crate::carrier::views::{LastErrorView, tenths};
use crate::find::{account_name, find_account, find_node};
use crate::http::routes::{Routes, doc};
use crate::node_query::NodeQuery;
use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{BindSnapshot, Order};
use hermod_gateway::node_messages::{own_name, query_node, query_others};
use hermod_store::NodeInfo;
use serde::{Deserialize, Serialize};
use serde_json::json;
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
            system_id: bind.began.system_id.to_string(),
            account,
            address: bind.began.peer.to_string(),
            kind: bind.began.kind.as_str().to_owned(),
            version: if bind.began.is_3_4 { "3.4" } else { "3.3" }.to_owned(),
            tls: bind.began.tls,
            address_range: bind.began.address_range,
            since: bind.began.now.to_iso(),
            for_s: now.since(bind.began.now).as_secs(),
            window: bind.began.window,
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

/// Lists live binds of all nodes, the oldest first.
pub async fn list_binds(gateway: &Gateway, query: &BindsQuery) -> Result<BindsView> {
    let mut view = list_here(gateway, query).await?;
    let BindsQuery { system_id, account } = query.clone();
    let mut answers = query_others(gateway, NodeQuery::Binds { system_id, account }).await;
    view.items.extend(answers.read().into_iter().flat_map(|BindsView { items, .. }| items));
    view.items.sort_by(|one, other| (&one.since, one.number).cmp(&(&other.since, other.number)));
    view.missing_nodes = answers.missing;
    Ok(view)
}

/// Lists the live binds of this node.
pub(crate) async fn list_here(gateway: &Gateway, query: &BindsQuery) -> Result<BindsView> {
    let account = query.account.as_deref().map(|name| find_account(gateway, name)).transpose()?;
    let binds = gateway.binds.show(gateway.clock.moment()).into_iter();
    let wanted = binds.filter(|bind| {
        account.is_none_or(|account| bind.began.account == account)
            && query.system_id.as_deref().is_none_or(|system_id| *bind.began.system_id == *system_id)
    });
    let (now, node) = (gateway.clock.now(), own_name(gateway));
    let mut items = Vec::new();
    for bind in wanted {
        let receipts_waiting = gateway.store.reports().waiting(bind.began.connection).await?;
        let account = account_name(gateway, bind.began.account);
        let view = BindView::new(bind, account, receipts_waiting, now);
        items.push(BindView { node: node.clone(), ..view });
    }
    Ok(BindsView { at: now.to_iso(), items, missing_nodes: Vec::new() })
}

/// Sends unbind to a customer, which may bind again at once.
pub async fn unbind(gateway: &Acting, number: &str, query: &UnbindQuery) -> Result<UnbindView> {
    if let Some(node) = &query.node {
        let node = find_node(gateway, node)?;
        if !node.is_this {
            return unbind_elsewhere(gateway, &node, number).await;
        }
    }
    let bind = number.parse().ok().and_then(|number| gateway.binds.find(number));
    let bind = bind.ok_or_else(|| OperatorRefusal::no_such("bind", number))?;
    let detail =
        json!({ "system_id": bind.began.system_id.to_string(), "peer": bind.began.peer.to_string() });
    gateway.audited(None, "bind.unbind", number, &detail).note_in_audit_log().await?;
    bind.order(Order::Unbind);
    tracing::info!(system_id = %bind.began.system_id, peer = %bind.began.peer, bind = bind.number, "Unbound by the operator");
    Ok(UnbindView { bind: bind.number })
}

async fn unbind_elsewhere(gateway: &Acting, node: &NodeInfo, number: &str) -> Result<UnbindView> {
    let no_such = || OperatorRefusal::no_such("bind", number);
    let bind: u64 = number.parse().map_err(|_| no_such())?;
    gateway.audited(None, "bind.unbind", number, &json!({ "node": node.name })).note_in_audit_log().await?;
    let found =
        query_node(gateway, node, NodeQuery::Unbind(bind)).await.ok_or(OperatorRefusal::no_answer())?;
    if found == json!(true) { Ok(UnbindView { bind }) } else { Err(no_such()) }
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Binds", "Customers' SMPP binds. Needs a running gateway.");
    routes.get(
        "/binds",
        list_binds,
        doc("listBinds", "List binds", "The live binds, the oldest first.")
            .details("Each SMPP bind of a customer: source address, type, window and figures.")
            .running_only()
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/binds/{number}/unbind",
        unbind,
        doc("unbind", "Unbind a customer", "The bind is being unbound.")
            .details(
                "Outstanding submits are answered first. Most customers bind again at once: to keep one out, close its \
                 connection.",
            )
            .running_only()
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Operations),
    );
}
