//! The nodes on one database: their list, draining one, and what an operator of another node asks of this one.

use crate::alarm::{self, AlarmsQuery};
use crate::author::Acting;
use crate::bind::{self, BindsQuery};
use crate::carrier::use_cases as carriers;
use crate::find::find_node;
use crate::http::routes::{Routes, doc};
use crate::node_query::NodeQuery;
use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Order;
use hermod_gateway::node_messages::{query_node, switch_trace};
use hermod_store::NodeInfo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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

/// Lists the nodes that share the store.
pub fn list_nodes(gateway: &Gateway) -> Result<NodesView> {
    let items = gateway.store.cluster().nodes().into_iter().map(NodeView::from).collect();
    Ok(NodesView { at: gateway.clock.now().to_iso(), items })
}

/// Stops a node in order, as SIGTERM does: its links and the engine move to other nodes.
pub async fn drain_node(gateway: &Acting, name: &str) -> Result<StoppingView> {
    let node = find_node(gateway, name)?;
    gateway.audited(None, "node.drain", name, &Value::Null).note_in_audit_log().await?;
    tracing::info!(node = name, "Drained by the operator");
    if node.is_this {
        gateway.stop_wanted.cancel();
    } else {
        query_node(gateway, &node, NodeQuery::Stop).await.ok_or(OperatorRefusal::no_answer())?;
    }
    Ok(StoppingView { node: node.name })
}

/// Answers another node; none if that fails: the other one then says that this node did not answer.
pub async fn answer_query(gateway: &Gateway, query: Value) -> Option<Value> {
    // A node of another release may ask what this one does not understand.
    match serde_json::from_value(query).ok()? {
        NodeQuery::Binds { system_id, account } => {
            as_value(bind::list_here(gateway, &BindsQuery { system_id, account }).await.ok()?)
        }
        NodeQuery::Carriers => as_value(carriers::list_here(gateway).await.ok()?),
        NodeQuery::Alarms { carrier } => as_value(alarm::alarms_here(gateway, &AlarmsQuery { carrier })),
        NodeQuery::AcknowledgeAlarms { carrier } => {
            as_value(alarm::acknowledge_here(gateway, &AlarmsQuery { carrier }))
        }
        NodeQuery::Resume(carrier) => Some(json!(carriers::resume_here(gateway, &carrier))),
        NodeQuery::Unbind(number) => {
            let bind = gateway.binds.find(number);
            bind.iter().for_each(|bind| bind.order(Order::Unbind));
            Some(json!(bind.is_some()))
        }
        NodeQuery::UnbindAll(connection) => {
            gateway.binds.unbind_all(connection);
            Some(Value::Null)
        }
        NodeQuery::Trace(traced, until) => switch_trace(gateway, traced, until).then_some(Value::Null),
        NodeQuery::Stop => {
            tracing::info!("Drained by the operator");
            gateway.stop_wanted.cancel();
            Some(Value::Null)
        }
    }
}

fn as_value(view: impl Serialize) -> Option<Value> {
    serde_json::to_value(view).ok()
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.get(
        "/nodes",
        list_nodes,
        doc("listNodes", "List the nodes", "In the order in which they first started.").details(
            "Several gateways on one PostgreSQL are nodes. One of them runs the engine, which makes every decision; all serve \
             customers and carriers.",
        )
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/nodes/{name}/drain",
        drain_node,
        doc("drainNode", "Take a node out of service", "The node is being stopped.")
            .running_only()
            .details(
                "As SIGTERM does: it finishes its requests, its links and the engine move to other nodes, and its process ends \
                 with exit code 0. It is in service again when it is started again.",
            )
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Operations),
    );
}
