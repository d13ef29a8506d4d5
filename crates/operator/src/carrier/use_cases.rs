//! Carriers: their state, alarms and test messages.

use crate::author::Acting;
use crate::carrier::carrier_test::{CarrierTestRequest, CarrierTestView};
use crate::carrier::views::{
    AcknowledgedView, AlarmView, AlarmsQuery, AlarmsView, CarrierView, CarriersView, ResumedView,
};
use crate::input::{invalid, number, sender};
use crate::node_query::NodeQuery;
use crate::refusal::OperatorRefusal;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::text::MessageText;
use hermod_gateway::config::Period;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{AlarmKind, CarrierSnapshot, NoProbe, PROBE_WAIT_MAX, Probe, Recent};
use hermod_gateway::node_messages::{own_name, query_others};
use hermod_store::CarrierQueue;
use serde_json::Value;

/// Defaults of a test message.
const TEST_WAIT: &str = "30s";
const TEST_SENDER: &str = "Hermod";
const TEST_TEXT: &str = "A test of this route by Hermod";

/// Lists every carrier of the catalogue by name, with its links on all nodes, its queue and its traffic.
pub async fn list_carriers(gateway: &Gateway) -> Result<CarriersView, OperatorRefusal> {
    let mut view = list_here(gateway).await?;
    let mut answers = query_others(gateway, NodeQuery::Carriers).await;
    let elsewhere = answers.read().into_iter().flat_map(|CarriersView { items, .. }| items);
    for other in elsewhere {
        if let Some(carrier) = view.items.iter_mut().find(|carrier| carrier.carrier == other.carrier) {
            carrier.add(other);
        }
    }
    view.missing_nodes = answers.missing;
    Ok(view)
}

/// Lists the carriers with the links of this node.
pub(crate) async fn list_here(gateway: &Gateway) -> Result<CarriersView, OperatorRefusal> {
    let queues = gateway.store.messages().queues().await?;
    let mut snapshots = gateway.carriers.list(gateway.clock.moment());
    let (now, node) = (gateway.clock.now(), own_name(gateway));
    let catalogue = gateway.catalogue();
    let items = catalogue.carriers().iter().map(|(id, name, carrier)| {
        let found = snapshots.iter().position(|snapshot| snapshot.id == *id);
        let mut snapshot = found.map_or_else(|| unseen(*id), |index| snapshots.swap_remove(index));
        // The live status learns of a renamed or disabled carrier a moment later.
        name.clone_into(&mut snapshot.name);
        if carrier.disabled {
            snapshot.health = Health::Disabled;
        }
        let queue = queues.iter().find(|queue| queue.carrier == *id).copied();
        let mut view = CarrierView::new(snapshot, queue.unwrap_or(empty(*id)), now);
        view.links.iter_mut().for_each(|link| link.node.clone_from(&node));
        view
    });
    let mut items: Vec<CarrierView> = items.collect();
    items.sort_by(|one, other| one.carrier.cmp(&other.carrier));
    Ok(CarriersView { at: now.to_iso(), items, missing_nodes: Vec::new() })
}

/// The snapshot of a carrier that the live status does not know yet.
fn unseen(id: CarrierId) -> CarrierSnapshot {
    CarrierSnapshot {
        id,
        name: String::new(),
        health: Health::Down,
        stopped_for: None,
        links: Vec::new(),
        recent: Recent::default(),
        tracing_until: None,
    }
}

fn empty(carrier: CarrierId) -> CarrierQueue {
    CarrierQueue { carrier, waiting: 0, in_flight: 0, deferred: 0, oldest: None, oldest_for_slot: None }
}

pub(crate) fn find_carrier(gateway: &Gateway, name: &str) -> Result<CarrierId, OperatorRefusal> {
    let catalogue = gateway.catalogue();
    let found = catalogue.carriers().iter().find(|(_, known, _)| known == name).map(|(id, ..)| *id);
    found.ok_or_else(|| OperatorRefusal::no_such("carrier", name))
}

/// Lets a stopped carrier send again, on all nodes.
pub async fn resume_carrier(gateway: &Acting, name: &str) -> Result<ResumedView, OperatorRefusal> {
    find_carrier(gateway, name)?;
    let here = resume_here(gateway, name);
    let mut answers = query_others(gateway, NodeQuery::Resume(name.to_owned())).await;
    let resumed = here || answers.read::<bool>().contains(&true);
    if resumed {
        gateway.audited(None, "carrier.resume", name, &Value::Null).note_in_audit_log().await?;
        tracing::info!(carrier.name = name, "Resumed by the operator");
    }
    Ok(ResumedView { carrier: name.to_owned(), resumed, missing_nodes: answers.missing })
}

/// Lets a stopped carrier send again on this node. Returns whether it was stopped.
pub(crate) fn resume_here(gateway: &Gateway, name: &str) -> bool {
    let Ok(id) = find_carrier(gateway, name) else { return false };
    let resumed = gateway.carriers.resume(id, gateway.clock.moment());
    if resumed {
        gateway.alarms.clear(AlarmKind::CarrierStopped, name);
    }
    resumed
}

/// Lists the alarms of all nodes.
pub async fn list_alarms(gateway: &Gateway, query: &AlarmsQuery) -> Result<AlarmsView, OperatorRefusal> {
    let mut view = alarms_here(gateway, query);
    let mut answers = query_others(gateway, NodeQuery::Alarms(query.clone())).await;
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
    let mut answers = query_others(gateway, NodeQuery::AcknowledgeAlarms(query.clone())).await;
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

/// Sends one message over a connection of its own and reports every step.
pub async fn test_carrier(
    gateway: &Gateway,
    name: &str,
    request: CarrierTestRequest,
) -> Result<CarrierTestView, OperatorRefusal> {
    let probe = probe_of(request)?;
    find_carrier(gateway, name)?;
    tracing::info!(carrier.name = name, "Tested by the operator");
    let report = gateway.probes.run(name, probe).await.map_err(|none| match none {
        NoProbe::Busy => OperatorRefusal::TestRunning,
        NoProbe::Stopping => OperatorRefusal::stopping(),
    })?;
    Ok(CarrierTestView::new(name.to_owned(), report))
}

fn probe_of(request: CarrierTestRequest) -> Result<Probe, OperatorRefusal> {
    let CarrierTestRequest { to, from, text, wait } = request;
    let wait = wait.as_deref().unwrap_or(TEST_WAIT);
    let period = Period::parse(wait).filter(|period| period.0 <= PROBE_WAIT_MAX);
    let period = period.ok_or_else(|| {
        invalid("wait", format!("\"{wait}\" is not a time of at most {}", Period(PROBE_WAIT_MAX)))
    })?;
    let text = MessageText::parse(text.as_deref().unwrap_or(TEST_TEXT));
    let text = text.map_err(|refusal| invalid("text", refusal))?;
    let from = sender(from.as_deref().unwrap_or(TEST_SENDER))?;
    Ok(Probe { to: number(&to)?, from, text, wait: period.0 })
}
