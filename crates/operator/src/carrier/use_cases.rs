//! Carriers: their state, alarms and test messages.

use crate::author::Acting;
use crate::carrier::views::{CarrierView, CarriersView, ResumedView};
use crate::find::find_carrier;
use crate::node_query::NodeQuery;
use crate::refusal::Result;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{AlarmKind, CarrierSnapshot, Recent};
use hermod_gateway::node_messages::{own_name, query_others};
use hermod_store::CarrierQueue;
use serde_json::Value;

/// Lists every carrier of the catalogue by name, with its links on all nodes, its queue and its traffic.
pub async fn list_carriers(gateway: &Gateway) -> Result<CarriersView> {
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
pub(crate) async fn list_here(gateway: &Gateway) -> Result<CarriersView> {
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

pub(crate) fn empty(carrier: CarrierId) -> CarrierQueue {
    CarrierQueue { carrier, waiting: 0, in_flight: 0, deferred: 0, oldest: None, oldest_for_slot: None }
}

/// Lets a stopped carrier send again, on all nodes.
pub async fn resume_carrier(gateway: &Acting, name: &str) -> Result<ResumedView> {
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
