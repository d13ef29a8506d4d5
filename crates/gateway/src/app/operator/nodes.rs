//! The nodes on one database: their list, draining one, and what an operator of another node asks of this one.

use super::{OperatorRefusal, binds, carriers, find_node};
use crate::author::Acting;
use crate::board::Order;
use crate::node_messages::{NodeQuery, query_node, switch_trace};
use crate::views::nodes::{NodeView, NodesView, StoppingView};
use crate::world::World;
use serde::Serialize;
use serde_json::{Value, json};

/// Lists the nodes that share the store.
pub fn list_nodes(world: &World) -> Result<NodesView, OperatorRefusal> {
    let items = world.store.nodes().into_iter().map(NodeView::from).collect();
    Ok(NodesView { at: world.clock.now().to_iso(), items })
}

/// Stops a node in order, as SIGTERM does: its links and the engine move to other nodes.
pub async fn drain_node(world: &Acting, name: &str) -> Result<StoppingView, OperatorRefusal> {
    let node = find_node(world, name)?;
    world.audited(None, "node.drain", name, &Value::Null).note_in_audit_log().await?;
    tracing::info!(node = name, "Drained by the operator");
    if node.is_this {
        world.stop_wanted.cancel();
    } else {
        query_node(world, &node, NodeQuery::Stop).await.ok_or(OperatorRefusal::no_answer())?;
    }
    Ok(StoppingView { node: node.name })
}

/// Answers another node; none if that fails: the other one then says that this node did not answer.
pub async fn answer_query(world: &World, query: NodeQuery) -> Option<Value> {
    match query {
        NodeQuery::Binds(query) => as_value(binds::list_here(world, &query).await.ok()?),
        NodeQuery::Carriers => as_value(carriers::list_here(world).await.ok()?),
        NodeQuery::Alarms(query) => as_value(carriers::alarms_here(world, &query)),
        NodeQuery::AcknowledgeAlarms(query) => as_value(carriers::acknowledge_here(world, &query)),
        NodeQuery::Resume(carrier) => Some(json!(carriers::resume_here(world, &carrier))),
        NodeQuery::Unbind(number) => {
            let bind = world.binds.find(number);
            bind.iter().for_each(|bind| bind.order(Order::Unbind));
            Some(json!(bind.is_some()))
        }
        NodeQuery::UnbindAll(connection) => {
            world.binds.unbind_all(connection);
            Some(Value::Null)
        }
        NodeQuery::Trace(traced, until) => switch_trace(world, traced, until).then_some(Value::Null),
        NodeQuery::Stop => {
            tracing::info!("Drained by the operator");
            world.stop_wanted.cancel();
            Some(Value::Null)
        }
    }
}

fn as_value(view: impl Serialize) -> Option<Value> {
    serde_json::to_value(view).ok()
}
