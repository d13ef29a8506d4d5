//! Customers' binds, and unbinding one.

use crate::author::Acting;
use crate::bind::views::{BindView, BindsQuery, BindsView, UnbindQuery, UnbindView};
use crate::find::{account_name, find_account, find_node};
use crate::node_query::NodeQuery;
use crate::refusal::OperatorRefusal;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Order;
use hermod_gateway::node_messages::{own_name, query_node, query_others};
use hermod_store::NodeInfo;
use serde_json::json;

/// Lists live binds of all nodes, the oldest first.
pub async fn list_binds(gateway: &Gateway, query: &BindsQuery) -> Result<BindsView, OperatorRefusal> {
    let mut view = list_here(gateway, query).await?;
    let mut answers = query_others(gateway, NodeQuery::Binds(query.clone())).await;
    view.items.extend(answers.read().into_iter().flat_map(|BindsView { items, .. }| items));
    view.items.sort_by(|one, other| (&one.since, one.number).cmp(&(&other.since, other.number)));
    view.missing_nodes = answers.missing;
    Ok(view)
}

/// Lists the live binds of this node.
pub(crate) async fn list_here(gateway: &Gateway, query: &BindsQuery) -> Result<BindsView, OperatorRefusal> {
    let account = query.account.as_deref().map(|name| find_account(gateway, name)).transpose()?;
    let binds = gateway.binds.show(gateway.clock.moment()).into_iter();
    let wanted = binds.filter(|bind| {
        account.is_none_or(|account| bind.account == account)
            && query.system_id.as_deref().is_none_or(|system_id| *bind.system_id == *system_id)
    });
    let (now, node) = (gateway.clock.now(), own_name(gateway));
    let mut items = Vec::new();
    for bind in wanted {
        let receipts_waiting = gateway.store.reports().waiting(bind.connection).await?;
        let account = account_name(gateway, bind.account);
        let view = BindView::new(bind, account, receipts_waiting, now);
        items.push(BindView { node: node.clone(), ..view });
    }
    Ok(BindsView { at: now.to_iso(), items, missing_nodes: Vec::new() })
}

/// Sends unbind to a customer, which may bind again at once.
pub async fn unbind(
    gateway: &Acting,
    number: &str,
    query: &UnbindQuery,
) -> Result<UnbindView, OperatorRefusal> {
    if let Some(node) = &query.node {
        let node = find_node(gateway, node)?;
        if !node.is_this {
            return unbind_elsewhere(gateway, &node, number).await;
        }
    }
    let bind = number.parse().ok().and_then(|number| gateway.binds.find(number));
    let bind = bind.ok_or_else(|| OperatorRefusal::no_such("bind", number))?;
    let detail = json!({ "system_id": bind.system_id().to_string(), "peer": bind.peer().to_string() });
    gateway.audited(None, "bind.unbind", number, &detail).note_in_audit_log().await?;
    bind.order(Order::Unbind);
    tracing::info!(system_id = %bind.system_id(), peer = %bind.peer(), bind = bind.number(), "Unbound by the operator");
    Ok(UnbindView { bind: bind.number() })
}

async fn unbind_elsewhere(
    gateway: &Acting,
    node: &NodeInfo,
    number: &str,
) -> Result<UnbindView, OperatorRefusal> {
    let no_such = || OperatorRefusal::no_such("bind", number);
    let bind: u64 = number.parse().map_err(|_| no_such())?;
    gateway.audited(None, "bind.unbind", number, &json!({ "node": node.name })).note_in_audit_log().await?;
    let found =
        query_node(gateway, node, NodeQuery::Unbind(bind)).await.ok_or(OperatorRefusal::no_answer())?;
    if found == json!(true) { Ok(UnbindView { bind }) } else { Err(no_such()) }
}
