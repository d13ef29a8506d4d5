//! Alarms of all nodes, with what to do about each.

use crate::http::routes::{Routes, doc};
use crate::node_query::NodeQuery;
use crate::refusal::OperatorRefusal;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{Alarm, AlarmKind};
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
    /// Empty for alarms about this machine or a customer.
    #[schema(examples("acme"))]
    pub carrier: String,
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
    pub fn new(alarm: Alarm, what_to_do: &str) -> AlarmView {
        let Alarm { kind, carrier, about, detail, first_at, last_at, count } = alarm;
        AlarmView {
            kind: kind.as_str().to_owned(),
            carrier,
            about,
            detail,
            what_to_do: what_to_do.to_owned(),
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
pub async fn list_alarms(gateway: &Gateway, query: &AlarmsQuery) -> Result<AlarmsView, OperatorRefusal> {
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
    let items = wanted.map(|alarm| {
        let advice = what_to_do(alarm.kind);
        AlarmView { node: node.clone(), ..AlarmView::new(alarm, advice) }
    });
    AlarmsView { items: items.collect(), missing_nodes: Vec::new() }
}

/// Removes alarms from the list, on all nodes. A condition that persists raises its alarm again.
pub async fn acknowledge_alarms(
    gateway: &Gateway,
    query: &AlarmsQuery,
) -> Result<AcknowledgedView, OperatorRefusal> {
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

/// The advice for the operator about an alarm.
#[expect(clippy::too_many_lines, reason = "a flat table with a line per alarm")]
const fn what_to_do(kind: AlarmKind) -> &'static str {
    match kind {
        AlarmKind::BindRefused => {
            "Check system_id, password and system_type with the carrier, which may lock the account. Then hermod carrier set."
        }
        AlarmKind::AlreadyBound => {
            "The carrier has an old session or allows fewer binds: wait, look for a second gateway, or reduce links."
        }
        AlarmKind::CarrierDown => {
            "hermod links shows the last error of each link. Check address, network and firewall."
        }
        AlarmKind::CarrierStalled => {
            "The carrier takes parts and answers none: ask it why. Its messages go to the next carriers of their routes meanwhile."
        }
        AlarmKind::QueueAge => {
            "hermod links shows whether its links are down, throttled or too slow. Add a second carrier to the route."
        }
        AlarmKind::CarrierStopped => {
            "Find the PDUs that it rejected (hermod carrier trace), correct its settings, then hermod carrier resume."
        }
        AlarmKind::ProtocolError => {
            "The carrier rejects our PDUs as malformed: compare its specification with long_messages, tlvs and source."
        }
        AlarmKind::UnknownStatus => "Ask the carrier what the code means and add it to the retry list.",
        AlarmKind::UnknownStat => {
            "Ask the carrier what the word means; such receipts are ignored until it is known."
        }
        AlarmKind::UnmatchedReceipts => {
            "Compare the ids (hermod carrier receipts) and set ids to hex-to-decimal or decimal-to-hex."
        }
        AlarmKind::AmbiguousReceipt => "The carrier uses one id for several parts: ask for unique ids.",
        AlarmKind::ReusedMessageId => {
            "Ask the carrier for ids that are unique for at least two weeks: some receipts cannot be matched safely until then."
        }
        AlarmKind::MissingMessageId => {
            "Ask the carrier for a message_id of 1 to 64 octets in submit_sm_resp: without it most receipts match no part."
        }
        AlarmKind::UnconfirmedParts => {
            "The carrier did not respond to parts, and no resend is left: ask the carrier whether it received them."
        }
        AlarmKind::MailFailing => {
            "Check server, port, tls, user and password of [mail] and the mail server itself. Invitations can be made again."
        }
        AlarmKind::BadSettings => "Correct the setting that the detail names.",
        AlarmKind::StoreLogLarge => {
            "End the program that reads hermod.db (fuser -v hermod.db in the data folder): the log shrinks within seconds."
        }
        AlarmKind::RowsSetAside => {
            "hermod set-aside list shows the messages, which are not sent. Find the damage (hermod audit, the disk), then repair the rows."
        }
        AlarmKind::ClockJumped => {
            "Synchronize the machine's clock with a time server. If it is right now, restart Hermod to use it at once."
        }
        AlarmKind::ClockBehind => {
            "Set the machine's clock and restart Hermod: the current time is before the stored times."
        }
        AlarmKind::DiskLow => {
            "Free or add disk space for the data folder. Below low_water of [data], new messages get 503."
        }
        AlarmKind::GatewayHeld => {
            "hermod restore review shows what waits; then hermod restore release, or hermod restore cancel --before-backup."
        }
        AlarmKind::ReviewsOpen => {
            "hermod review list, then hermod review approve ID or hermod review reject ID."
        }
        AlarmKind::RecordBehind => {
            "Sending is not affected. Check the disk and the load of the machine; hermod record status shows the progress."
        }
        AlarmKind::WebhookFailing => {
            "Inform the customer. hermod webhook list ACCOUNT --state waiting shows the events, hermod webhook attempts the errors."
        }
        AlarmKind::CertificateExpiring => {
            "Replace the certificate and its key in the same files: they are reloaded within seconds."
        }
        AlarmKind::CertificateExpired => {
            "Clients reject it. Replace the certificate and its key in the same files: they are reloaded within seconds."
        }
    }
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.get(
        "/alarms",
        list_alarms,
        doc("listAlarms", "List alarms", "By carrier.")
            .running_only()
            .details("An alarm is listed once, however often it occurs, with what to do about it."),
    );
    routes.delete(
        "/alarms",
        acknowledge_alarms,
        doc("acknowledgeAlarms", "Acknowledge alarms", "The number of alarms that were listed.")
            .running_only()
            .details("Removes alarms from the list. A condition that persists raises its alarm again."),
    );
}
