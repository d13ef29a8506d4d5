//! The nodes on one database: their list, draining one, and what an operator of another node asks of this one.

use crate::author::Acting;
use crate::bind::use_cases as binds;
use crate::carrier::use_cases as carriers;
use crate::find::find_node;
use crate::node::views::{NodeView, NodesView, StoppingView};
use crate::node_query::NodeQuery;
use crate::refusal::OperatorRefusal;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Order;
use hermod_gateway::node_messages::{query_node, switch_trace};
use serde::Serialize;
use serde_json::{Value, json};

/// Lists the nodes that share the store.
pub fn list_nodes(gateway: &Gateway) -> Result<NodesView, OperatorRefusal> {
    let items = gateway.store.cluster().nodes().into_iter().map(NodeView::from).collect();
    Ok(NodesView { at: gateway.clock.now().to_iso(), items })
}

/// Stops a node in order, as SIGTERM does: its links and the engine move to other nodes.
pub async fn drain_node(gateway: &Acting, name: &str) -> Result<StoppingView, OperatorRefusal> {
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
        NodeQuery::Binds(query) => as_value(binds::list_here(gateway, &query).await.ok()?),
        NodeQuery::Carriers => as_value(carriers::list_here(gateway).await.ok()?),
        NodeQuery::Alarms(query) => as_value(carriers::alarms_here(gateway, &query)),
        NodeQuery::AcknowledgeAlarms(query) => as_value(carriers::acknowledge_here(gateway, &query)),
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
