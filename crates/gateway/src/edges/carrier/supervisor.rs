//! Which links there should be: those of the catalogue of the moment, and no others.

use super::link_group::Account;
use super::monitor::oversee;
use super::reconnect::keep_linked;
use crate::board::{CarrierState, Direction, LinkSettings};
use crate::workers::Workers;
use crate::world::World;
use hermod_domain::carrier::{Binds, Health};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Keeps links to each carrier of the catalogue, also to those that come later. They end when the workers are told to
/// stop, after answering for what was under way.
pub fn supervise(world: &Arc<World>, workers: &Workers) {
    let (world, owner, stopping) = (world.clone(), workers.clone(), workers.stopping());
    let mut changes = world.catalogue_changes();
    workers.spawn_named("carriers", async move {
        let mut followed = HashSet::new();
        loop {
            changes.mark_unchanged();
            for (id, name, _) in world.catalogue().carriers() {
                if followed.insert(*id) {
                    let state = world.carriers.open(*id, name);
                    let (world, workers, stopping) = (world.clone(), owner.clone(), stopping.clone());
                    owner.spawn_named(format!("carrier/{name}"), async move {
                        follow(&world, &state, &workers, &stopping).await;
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

/// Links to one carrier as the catalogue of the moment says. A changed carrier is left in good order and bound anew.
async fn follow(
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
        Account::clear_all(world, state.name());
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

/// Nothing while it is disabled.
fn wanted(world: &World, id: CarrierId) -> Option<Carrier> {
    world.catalogue().carrier(id).filter(|carrier| !carrier.disabled).cloned()
}

/// A pair's receiver goes first: what the sender sends is told of at once, then.
fn start(world: &Arc<World>, state: &Arc<CarrierState>, carrier: &Carrier, links: &Workers) {
    let account = Arc::new(Account::new(world.clone(), state.clone(), carrier.clone()));
    let directions: &[Direction] = match carrier.profile.binds {
        Binds::Transceiver => &[Direction::Both],
        Binds::TransmitterAndReceiver => &[Direction::Receives, Direction::Sends],
    };
    for number in 1..=carrier.profile.links {
        for direction in directions {
            let settings = LinkSettings {
                address: carrier.address.clone(),
                tls: carrier.tls.is_some(),
                window: account.window(),
                full_rate: account.link_rate(),
            };
            let figures = state.link(number, *direction, settings, world.clock.now());
            let name = format!("link/{}-{number}/{}", state.name(), direction.as_str());
            let (account, stopping) = (account.clone(), links.stopping());
            links.spawn_named(name, async move { keep_linked(&account, &figures, &stopping).await });
        }
    }
    let stopping = links.stopping();
    links.spawn_named(
        format!("oversight/{}", state.name()),
        async move { oversee(&account, &stopping).await },
    );
}
