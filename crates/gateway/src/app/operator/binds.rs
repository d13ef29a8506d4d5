//! Customers' binds, unbinding one, and the PDU trace of a connection.

use super::asking::{Question, ask_one, ask_others, find_node, own_name};
use super::{OperatorRefusal, account_name, find_account};
use crate::author::Acting;
use crate::board::{Order, TraceLine};
use crate::views::binds::{BindView, BindsQuery, BindsView, UnbindQuery, UnbindView};
use crate::world::World;
use hermod_domain::catalogue::Connection;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_store::NodeInfo;
use serde_json::json;
use std::time::Duration;

/// How long a trace runs. It costs a little with every PDU, so it ends by itself.
pub const BIND_TRACE_LASTS: Duration = Duration::from_secs(600);

/// Lists live binds of all nodes, the oldest first.
pub async fn list_binds(world: &World, query: &BindsQuery) -> Result<BindsView, OperatorRefusal> {
    let mut view = list_here(world, query).await?;
    let mut answers = ask_others(world, Question::Binds(query.clone())).await;
    view.items.extend(answers.read().into_iter().flat_map(|BindsView { items, .. }| items));
    view.items.sort_by(|one, other| (&one.since, one.number).cmp(&(&other.since, other.number)));
    view.missing_nodes = answers.missing;
    Ok(view)
}

/// Lists the live binds of this node.
pub(super) async fn list_here(world: &World, query: &BindsQuery) -> Result<BindsView, OperatorRefusal> {
    let account = query.account.as_deref().map(|name| find_account(world, name)).transpose()?;
    let binds = world.binds.show(world.clock.moment()).into_iter();
    let wanted = binds.filter(|bind| {
        account.is_none_or(|account| bind.account == account)
            && query.system_id.as_deref().is_none_or(|system_id| *bind.system_id == *system_id)
    });
    let (now, node) = (world.clock.now(), own_name(world));
    let mut items = Vec::new();
    for bind in wanted {
        let receipts_waiting = world.store.reports_waiting(bind.connection).await?;
        let account = account_name(world, bind.account);
        let view = BindView::new(bind, account, receipts_waiting, now);
        items.push(BindView { node: node.clone(), ..view });
    }
    Ok(BindsView { at: now.to_iso(), items, missing_nodes: Vec::new() })
}

/// Sends unbind to a customer, which may bind again at once.
pub async fn unbind(
    world: &Acting,
    number: &str,
    query: &UnbindQuery,
) -> Result<UnbindView, OperatorRefusal> {
    if let Some(node) = &query.node {
        let node = find_node(world, node)?;
        if !node.is_this {
            return unbind_elsewhere(world, &node, number).await;
        }
    }
    let bind = number.parse().ok().and_then(|number| world.binds.find(number));
    let bind = bind.ok_or_else(|| OperatorRefusal::no_such("bind", number))?;
    let detail = json!({ "system_id": bind.system_id().to_string(), "peer": bind.peer().to_string() });
    world.audited(None, "bind.unbind", number, &detail).note_in_audit_log().await?;
    bind.order(Order::Unbind);
    tracing::info!(system_id = %bind.system_id(), peer = %bind.peer(), bind = bind.number(), "Unbound by the operator");
    Ok(UnbindView { bind: bind.number() })
}

async fn unbind_elsewhere(
    world: &Acting,
    node: &NodeInfo,
    number: &str,
) -> Result<UnbindView, OperatorRefusal> {
    let no_such = || OperatorRefusal::no_such("bind", number);
    let bind: u64 = number.parse().map_err(|_| no_such())?;
    world.audited(None, "bind.unbind", number, &json!({ "node": node.name })).note_in_audit_log().await?;
    let found = ask_one(world, node, Question::Unbind(bind)).await?;
    if found == json!(true) { Ok(UnbindView { bind }) } else { Err(no_such()) }
}

/// The last PDUs of a connection's binds, without passwords and texts.
pub struct BindTrace {
    /// When the trace ends, if it runs.
    pub until: Option<Timestamp>,
    /// The newest first.
    pub lines: Vec<TraceLine>,
    /// How many lines are kept.
    pub kept: usize,
}

/// Traces the PDUs of a connection's binds for [`BIND_TRACE_LASTS`]: those that are bound, and those that will be.
pub async fn start_bind_trace(world: &Acting, connection: &str) -> Result<(), OperatorRefusal> {
    let (id, entry) = find_connection(world, connection)?;
    let until = world.clock.now().plus(BIND_TRACE_LASTS);
    let detail = json!({ "until": until.to_iso() });
    let audited = world.audited(Some(entry.account), "connection.trace", connection, &detail);
    audited.note_in_audit_log().await?;
    world.binds.open_trace(id).enable(until);
    Ok(())
}

/// Ends the trace. Its lines can still be read.
pub fn stop_bind_trace(world: &World, connection: &str) -> Result<(), OperatorRefusal> {
    let (id, _) = find_connection(world, connection)?;
    if let Some(trace) = world.binds.find_trace(id) {
        trace.disable();
    }
    Ok(())
}

/// Returns the newest lines of the trace.
pub fn read_bind_trace(world: &World, connection: &str, limit: usize) -> Result<BindTrace, OperatorRefusal> {
    let (id, _) = find_connection(world, connection)?;
    let Some(trace) = world.binds.find_trace(id) else {
        return Ok(BindTrace { until: None, lines: Vec::new(), kept: 0 });
    };
    let until = trace.until().filter(|until| *until > world.clock.now());
    let (lines, kept) = trace.newest(limit);
    Ok(BindTrace { until, lines, kept })
}

fn find_connection(world: &World, name: &str) -> Result<(ConnectionId, Connection), OperatorRefusal> {
    let catalogue = world.catalogue();
    let found = catalogue.connection_by_name(name);
    let found = found.and_then(|id| Some((id, catalogue.connection(id)?.clone())));
    found.ok_or_else(|| OperatorRefusal::no_such("connection", name))
}
