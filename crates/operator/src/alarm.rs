//! Alarms of all nodes, with what to do about each.

use crate::http::routes::{Routes, doc};
use crate::node_query::NodeQuery;
use crate::refusal::Result;
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Alarm;
use hermod_gateway::node_messages::{own_name, query_others};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct AlarmsQuery {
    /// Only alarms of this carrier.
    pub carrier: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AlarmsView {
    pub items: Vec<AlarmView>,
    /// Nodes that did not answer: their alarms are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

/// A condition that needs the operator. Raised once, however often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AlarmView {
    #[schema(examples("carrier-down"))]
    pub kind: String,
    /// `critical`: messages are not accepted or not sent, or will expire. `warning`: something fails, and messages are still sent.
    /// `notice`: work for the operator, or a customer's own matter.
    #[schema(pattern = "^(critical|warning|notice)$", examples("critical"))]
    pub severity: String,
    /// Empty for alarms about this machine or a customer.
    #[schema(examples("acme"))]
    pub carrier: String,
    /// Empty for alarms that are not about a customer.
    pub account: String,
    /// Distinguishes alarms of one kind: a status code, an account's webhook, a certificate file. Usually empty.
    pub about: String,
    /// The latest occurrence.
    pub detail: String,
    pub what_to_do: String,
    pub first_at: String,
    pub last_at: String,
    pub count: u64,
    /// The node that raised it, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl AlarmView {
    pub fn new(alarm: Alarm) -> AlarmView {
        let (severity, account) = (alarm.severity(), alarm.account().to_owned());
        let Alarm { kind, carrier, about, detail, first_at, last_at, count } = alarm;
        AlarmView {
            kind: kind.as_str().to_owned(),
            severity: severity.as_str().to_owned(),
            carrier,
            account,
            about,
            detail,
            what_to_do: kind.advice().to_owned(),
            first_at: first_at.to_iso(),
            last_at: last_at.to_iso(),
            count,
            node: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AcknowledgedView {
    /// The number of alarms that were acknowledged.
    pub acknowledged: u64,
    /// Nodes that did not answer: their alarms are still listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

/// Lists the alarms of all nodes.
pub async fn list_alarms(gateway: &Gateway, query: &AlarmsQuery) -> Result<AlarmsView> {
    let mut view = alarms_here(gateway, query);
    let mut answers = query_others(gateway, NodeQuery::Alarms { carrier: query.carrier.clone() }).await;
    view.items.extend(answers.read().into_iter().flat_map(|AlarmsView { items, .. }| items));
    view.missing_nodes = answers.missing;
    Ok(view)
}

/// Lists the alarms of this node.
pub(crate) fn alarms_here(gateway: &Gateway, query: &AlarmsQuery) -> AlarmsView {
    let node = own_name(gateway);
    let all = gateway.alarms.list().into_iter();
    let wanted = all.filter(|alarm| query.carrier.as_ref().is_none_or(|carrier| alarm.carrier == *carrier));
    let items = wanted.map(|alarm| AlarmView { node: node.clone(), ..AlarmView::new(alarm) });
    AlarmsView { items: items.collect(), missing_nodes: Vec::new() }
}

/// Removes alarms from the list, on all nodes. A condition that persists raises its alarm again.
pub async fn acknowledge_alarms(gateway: &Gateway, query: &AlarmsQuery) -> Result<AcknowledgedView> {
    let AcknowledgedView { acknowledged: here, .. } = acknowledge_here(gateway, query);
    let all = NodeQuery::AcknowledgeAlarms { carrier: query.carrier.clone() };
    let mut answers = query_others(gateway, all).await;
    let elsewhere = answers.read().into_iter().map(|AcknowledgedView { acknowledged, .. }| acknowledged);
    Ok(AcknowledgedView { acknowledged: here + elsewhere.sum::<u64>(), missing_nodes: answers.missing })
}

pub(crate) fn acknowledge_here(gateway: &Gateway, query: &AlarmsQuery) -> AcknowledgedView {
    let carrier = query.carrier.as_deref();
    let acknowledged = gateway.alarms.acknowledge(carrier);
    tracing::info!(carrier.name = carrier, acknowledged, "Alarms acknowledged by the operator");
    AcknowledgedView {
        acknowledged: u64::try_from(acknowledged).unwrap_or(u64::MAX),
        missing_nodes: Vec::new(),
    }
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.get(
        "/alarms",
        list_alarms,
        doc("listAlarms", "List alarms", "By carrier.")
            .running_only()
            .details("An alarm is listed once, however often it occurs, with what to do about it.")
            .least(OperatorPermission::Reading),
    );
    routes.delete(
        "/alarms",
        acknowledge_alarms,
        doc("acknowledgeAlarms", "Acknowledge alarms", "The number of alarms that were listed.")
            .running_only()
            .details("Removes alarms from the list. A condition that persists raises its alarm again.")
            .least(OperatorPermission::Operations),
    );
}
