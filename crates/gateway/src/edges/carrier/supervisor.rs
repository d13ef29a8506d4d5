//! Starts and stops links so that they match the current catalogue.

use super::link_group::LinkGroup;
use super::link_slot::LinkSlot;
use super::monitor::monitor_carrier;
use super::reconnect::keep_connected;
use crate::gateway::Gateway;
use crate::live_status::{CarrierState, Direction, LinkSettings};
use crate::workers::Workers;
use hermod_domain::carrier::{Health, LinkBinds};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Keeps links to each carrier of the catalogue, also to carriers added later. The links end when the workers stop,
/// after reporting their outstanding parts.
pub fn supervise(gateway: &Arc<Gateway>, workers: &Workers) {
    let (gateway, owner, stopping) = (gateway.clone(), workers.clone(), workers.stopping());
    let mut changes = gateway.catalogue_changes();
    workers.spawn_named("carriers", async move {
        let mut started = HashSet::new();
        loop {
            changes.mark_unchanged();
            for (id, name, _) in gateway.catalogue().carriers() {
                if started.insert(*id) {
                    let state = gateway.carriers.open(*id, name);
                    let (gateway, workers, stopping) = (gateway.clone(), owner.clone(), stopping.clone());
                    owner.spawn_named(format!("carrier/{name}"), async move {
                        keep_links(&gateway, &state, &workers, &stopping).await;
                    });
                }
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = stopping.cancelled() => return,
            }
        }
    });
}

/// Runs the link of one number, in each direction.
fn run_link(group: &Arc<LinkGroup>, number: u8, directions: &[Direction], links: &Workers) {
    let (gateway, state, carrier) = (&group.gateway, &group.state, &group.entry);
    for direction in directions {
        let settings = LinkSettings {
            address: carrier.address.clone(),
            tls: carrier.tls.is_some(),
            window: group.window(),
            full_rate: group.link_rate(),
        };
        let figures = state.link(number, *direction, settings, gateway.clock.now());
        let name = format!("link/{}-{number}/{}", state.name(), direction.as_str());
        let (group, stopping) = (group.clone(), links.stopping());
        links.spawn_named(name, async move { keep_connected(&group, &figures, &stopping).await });
    }
}

/// Keeps the links to one carrier. When its entry changes, drains the links and binds again.
async fn keep_links(
    gateway: &Arc<Gateway>,
    state: &Arc<CarrierState>,
    workers: &Workers,
    stopping: &CancellationToken,
) {
    let mut changes = gateway.catalogue_changes();
    while !stopping.is_cancelled() {
        changes.mark_unchanged();
        let wanted = wanted(gateway, state.id());
        let links = workers.child();
        LinkGroup::clear_all(gateway, state.name());
        state.resume(gateway.clock.moment());
        follow_drain(gateway, state);
        match &wanted {
            Some(carrier) => start(gateway, state, carrier, &links),
            None => state.set_health(Health::Disabled),
        }
        state.look(gateway.clock.moment(), gateway.clock.now());
        let changed = async {
            while changes.changed().await.is_ok() && self::wanted(gateway, state.id()) == wanted {
                follow_drain(gateway, state);
            }
        };
        tokio::select! {
            () = changed => {}
            () = stopping.cancelled() => {}
        }
        links.stop().await;
        state.retire_links(gateway.clock.now());
        state.set_health(Health::Down);
    }
}

/// Returns the carrier's entry; `None` while it is disabled or the gateway is held. Without its drain, which leaves the links bound.
fn wanted(gateway: &Gateway, id: CarrierId) -> Option<Carrier> {
    if gateway.is_held() {
        return None;
    }
    let carrier = gateway.catalogue().carrier(id).filter(|carrier| !carrier.disabled).cloned();
    carrier.map(|carrier| Carrier { draining: None, ..carrier })
}

/// Stops sending while the entry says that the carrier is drained.
fn follow_drain(gateway: &Gateway, state: &CarrierState) {
    let catalogue = gateway.catalogue();
    let is_drained = catalogue.carrier(state.id()).is_some_and(|carrier| carrier.draining.is_some());
    state.set_drained(is_drained, gateway.clock.now());
}

/// Starts the links of a carrier. The receiver of a pair starts first, so that no receipt is missed.
fn start(gateway: &Arc<Gateway>, state: &Arc<CarrierState>, carrier: &Carrier, links: &Workers) {
    let group = Arc::new(LinkGroup::new(gateway.clone(), state.clone(), carrier.clone()));
    let directions: &'static [Direction] = match carrier.profile.binds {
        LinkBinds::Transceiver => &[Direction::Both],
        LinkBinds::TransmitterAndReceiver => &[Direction::Receives, Direction::Sends],
    };
    for number in 1..=carrier.profile.links {
        let (group, links) = (group.clone(), links.clone());
        let name = format!("slot/{}-{number}", state.name());
        links.clone().spawn_named(name, async move {
            let slot = LinkSlot { group: &group, number };
            slot.keep(&links, |running| run_link(&group, number, directions, running)).await;
        });
    }
    let stopping = links.stopping();
    links.spawn_named(format!("monitor/{}", state.name()), async move {
        monitor_carrier(&group, &stopping).await
    });
}
