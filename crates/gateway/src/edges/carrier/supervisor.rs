//! Starts and stops links so that they match the current catalogue.

use super::link_group::LinkGroup;
use super::link_slot::LinkSlot;
use super::monitor::monitor_carrier;
use super::reconnect::keep_connected;
use crate::board::{CarrierState, Direction, LinkSettings};
use crate::workers::Workers;
use crate::world::World;
use hermod_domain::carrier::{Health, LinkBinds};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Keeps links to each carrier of the catalogue, also to carriers added later. The links end when the workers stop,
/// after reporting their outstanding parts.
pub fn supervise(world: &Arc<World>, workers: &Workers) {
    let (world, owner, stopping) = (world.clone(), workers.clone(), workers.stopping());
    let mut changes = world.catalogue_changes();
    workers.spawn_named("carriers", async move {
        let mut started = HashSet::new();
        loop {
            changes.mark_unchanged();
            for (id, name, _) in world.catalogue().carriers() {
                if started.insert(*id) {
                    let state = world.carriers.open(*id, name);
                    let (world, workers, stopping) = (world.clone(), owner.clone(), stopping.clone());
                    owner.spawn_named(format!("carrier/{name}"), async move {
                        keep_links(&world, &state, &workers, &stopping).await;
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
    let (world, state, carrier) = (&group.world, &group.state, &group.entry);
    for direction in directions {
        let settings = LinkSettings {
            address: carrier.address.clone(),
            tls: carrier.tls.is_some(),
            window: group.window(),
            full_rate: group.link_rate(),
        };
        let figures = state.link(number, *direction, settings, world.clock.now());
        let name = format!("link/{}-{number}/{}", state.name(), direction.as_str());
        let (group, stopping) = (group.clone(), links.stopping());
        links.spawn_named(name, async move { keep_connected(&group, &figures, &stopping).await });
    }
}

/// Keeps the links to one carrier. When its entry changes, drains the links and binds again.
async fn keep_links(
    world: &Arc<World>,
    state: &Arc<CarrierState>,
    workers: &Workers,
    stopping: &CancellationToken,
) {
    let mut changes = world.catalogue_changes();
    while !stopping.is_cancelled() {
        changes.mark_unchanged();
        let wanted = wanted(world, state.id());
        let links = workers.child();
        LinkGroup::clear_all(world, state.name());
        state.resume(world.clock.moment());
        match &wanted {
            Some(carrier) => start(world, state, carrier, &links),
            None => state.set_health(Health::Disabled),
        }
        state.look(world.clock.moment(), world.clock.now());
        let changed =
            async { while changes.changed().await.is_ok() && self::wanted(world, state.id()) == wanted {} };
        tokio::select! {
            () = changed => {}
            () = stopping.cancelled() => {}
        }
        links.stop().await;
        state.retire_links(world.clock.now());
        state.set_health(Health::Down);
    }
}

/// Returns the carrier's entry; `None` while it is disabled.
fn wanted(world: &World, id: CarrierId) -> Option<Carrier> {
    world.catalogue().carrier(id).filter(|carrier| !carrier.disabled).cloned()
}

/// Starts the links of a carrier. The receiver of a pair starts first, so that no receipt is missed.
fn start(world: &Arc<World>, state: &Arc<CarrierState>, carrier: &Carrier, links: &Workers) {
    let group = Arc::new(LinkGroup::new(world.clone(), state.clone(), carrier.clone()));
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
