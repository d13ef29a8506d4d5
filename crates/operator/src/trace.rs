//! PDU traces of carriers' links and of customers' binds, on all nodes.

use crate::author::Acting;
use crate::find::find_carrier;
use crate::http::routes::{Routes, doc};
use crate::input::invalid;
use crate::node_query::NodeQuery;
use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::catalogue::Connection;
use hermod_domain::ids::ConnectionId;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Timestamp;
use hermod_gateway::config::Period;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{PduDirection, TraceLine};
use hermod_gateway::node_messages::{Traced, own_name, query_others, switch_trace};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// How long to trace: `1s` to `1h`.
    #[serde(rename = "for")]
    #[schema(pattern = "^[0-9]+(ms|s|m|h|d)$", examples("60s"))]
    pub duration: String,
}

impl crate::views::JsonBody for TraceRequest {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct TraceQuery {
    /// `next` of the previous response.
    pub after: Option<crate::views::paging::RowNumber>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceStateView {
    pub carrier: String,
    /// When the trace ends; null if it is off.
    pub until: Option<String>,
    /// Nodes that did not answer: their links are not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceView {
    pub items: Vec<TraceLineView>,
    /// `after` of the next request.
    pub next: u64,
    /// When the trace ends; null if it is off.
    pub until: Option<String>,
}

/// A PDU without passwords and message texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceLineView {
    pub seq: u64,
    pub at: String,
    /// The node that has the link, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The number of the link at its node.
    pub link: u64,
    /// `in` from the carrier, `out` to it.
    pub way: String,
    #[schema(examples("submit_sm seq=7 4915112345678 <- Shop"))]
    pub line: String,
}

impl TraceView {
    /// The lines after the sequence number `after`.
    pub fn new(lines: Vec<TraceLine>, after: u64, until: Option<Timestamp>) -> TraceView {
        let next = lines.iter().map(|line| line.seq).max().unwrap_or(after);
        let items = lines.into_iter().map(|TraceLine { seq, at, node, session, way, line }| TraceLineView {
            seq,
            at: at.to_iso(),
            node,
            link: session,
            way: PduDirection::as_str(way).to_owned(),
            line,
        });
        TraceView { items: items.collect(), next, until: until.map(Timestamp::to_iso) }
    }
}

/// A trace costs a little with every PDU, so it ends by itself.
const TRACE_MIN: Duration = Duration::from_secs(1);
const TRACE_MAX: Duration = Duration::from_secs(3600);
/// How long the trace of a connection runs.
pub const BIND_TRACE_LASTS: Duration = Duration::from_secs(600);

/// Traces on all nodes until then, or no longer. Returns the nodes that did not answer.
async fn switch(gateway: &Gateway, traced: Traced, until: Option<Timestamp>) -> Vec<String> {
    switch_trace(gateway, traced, until);
    query_others(gateway, NodeQuery::Trace(traced, until)).await.missing
}

/// Traces a carrier's PDUs for a while.
pub async fn start_trace(gateway: &Acting, name: &str, request: &TraceRequest) -> Result<TraceStateView> {
    let duration = &request.duration;
    let parsed = Period::parse(duration).filter(|period| (TRACE_MIN..=TRACE_MAX).contains(&period.0));
    let period = parsed.ok_or_else(|| {
        let (min, max) = (Period(TRACE_MIN), Period(TRACE_MAX));
        invalid("for", format!("\"{duration}\" is not a time from {min} to {max}"))
    })?;
    let id = find_carrier(gateway, name)?;
    let until = gateway.clock.now().plus(period.0);
    let detail = json!({ "until": until.to_iso() });
    gateway.audited(None, "carrier.trace", name, &detail).note_in_audit_log().await?;
    let missing_nodes = switch(gateway, Traced::Carrier(id), Some(until)).await;
    tracing::info!(carrier.name = name, until = %until.to_iso(), "PDU trace started by the operator");
    Ok(TraceStateView { carrier: name.to_owned(), until: Some(until.to_iso()), missing_nodes })
}

/// Ends the trace. Its lines can still be read.
pub async fn stop_trace(gateway: &Gateway, name: &str) -> Result<TraceStateView> {
    let id = find_carrier(gateway, name)?;
    let missing_nodes = switch(gateway, Traced::Carrier(id), None).await;
    Ok(TraceStateView { carrier: name.to_owned(), until: None, missing_nodes })
}

/// Returns the lines of the trace after those that were read before.
pub fn read_trace(gateway: &Gateway, name: &str, query: &TraceQuery) -> Result<TraceView> {
    let id = find_carrier(gateway, name)?;
    let after = query.after.map_or(0, u64::from);
    let Some(state) = gateway.carriers.get(id) else { return Ok(TraceView::new(Vec::new(), after, None)) };
    let until = state.trace.until().filter(|until| *until > gateway.clock.now());
    let mut lines = state.trace.read(after);
    name_own_lines(gateway, &mut lines);
    Ok(TraceView::new(lines, after, until))
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
pub async fn start_bind_trace(gateway: &Acting, connection: &str) -> Result<()> {
    let (id, entry) = find_connection(gateway, connection)?;
    let until = gateway.clock.now().plus(BIND_TRACE_LASTS);
    let detail = json!({ "until": until.to_iso() });
    let audited = gateway.audited(Some(entry.account), "connection.trace", connection, &detail);
    audited.note_in_audit_log().await?;
    switch(gateway, Traced::Connection(id), Some(until)).await;
    Ok(())
}

/// Ends the trace. Its lines can still be read.
pub async fn stop_bind_trace(gateway: &Gateway, connection: &str) -> Result<()> {
    let (id, _) = find_connection(gateway, connection)?;
    switch(gateway, Traced::Connection(id), None).await;
    Ok(())
}

/// Returns the newest lines of the trace.
pub fn read_bind_trace(gateway: &Gateway, connection: &str, limit: usize) -> Result<BindTrace> {
    let (id, _) = find_connection(gateway, connection)?;
    let Some(trace) = gateway.binds.find_trace(id) else {
        return Ok(BindTrace { until: None, lines: Vec::new(), kept: 0 });
    };
    let until = trace.until().filter(|until| *until > gateway.clock.now());
    let (mut lines, kept) = trace.newest(limit);
    name_own_lines(gateway, &mut lines);
    Ok(BindTrace { until, lines, kept })
}

/// Sets the node of the lines that have none: this one, if there are others.
fn name_own_lines(gateway: &Gateway, lines: &mut [TraceLine]) {
    if !gateway.store.cluster().has_other_nodes() && lines.iter().all(|line| line.node.is_none()) {
        return;
    }
    let own = own_name(gateway);
    for line in lines.iter_mut().filter(|line| line.node.is_none()) {
        line.node.clone_from(&own);
    }
}

fn find_connection(gateway: &Gateway, name: &str) -> Result<(ConnectionId, Connection)> {
    let catalogue = gateway.catalogue();
    let found = catalogue.connection_by_name(name);
    let found = found.and_then(|id| Some((id, catalogue.connection(id)?.clone())));
    found.ok_or_else(|| OperatorRefusal::no_such("connection", name))
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.get(
        "/carriers/{name}/trace",
        read_trace,
        doc("readTrace", "Read a carrier's PDU trace", "In the order of the PDUs.")
            .running_only()
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Personal),
    );
    routes.put(
        "/carriers/{name}/trace",
        start_trace,
        doc("traceCarrier", "Start a PDU trace", "Read the lines with GET.")
            .running_only()
            .details("Lines have neither passwords nor texts. The last 1,000 lines are kept.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Operations),
    );
    routes.delete(
        "/carriers/{name}/trace",
        stop_trace,
        doc("stopTrace", "Stop a PDU trace", "The lines can still be read.")
            .running_only()
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Operations),
    );
}
