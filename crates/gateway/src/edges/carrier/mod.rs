//! Links to carriers. For each carrier one task dials, binds, sends what the store hands out and reports what the
//! carrier says, and comes back after every loss, ever more patiently. The protocol is decided by the pure session of
//! the SMPP crate; what answers mean, how fast to go and when to come back are decided by the pure modules here.

mod answers;
mod backoff;
mod connect;
mod flow;
mod link;
mod submit;

use crate::board::AlarmKind;
use crate::sealed;
use crate::workers::Workers;
use crate::world::World;
use backoff::{Ended, Reconnect};
use connect::connect;
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use link::Link;
use metrics::{counter, gauge};
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Keeps a task for each carrier of the catalogue, also of those that come later. They end when the workers are told to
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
                    let (world, id, name, stopping) = (world.clone(), *id, name.clone(), stopping.clone());
                    owner.spawn_named(format!("carrier/{name}"), async move {
                        follow(&world, id, &name, &stopping).await;
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
async fn follow(world: &World, id: CarrierId, name: &str, stopping: &CancellationToken) {
    let mut changes = world.catalogue_changes();
    while !stopping.is_cancelled() {
        changes.mark_unchanged();
        let wanted = wanted(world, id);
        let leaving = stopping.child_token();
        let linked = async {
            match &wanted {
                Some(carrier) => Keeper { world, id, name, carrier }.keep_linked(&leaving).await,
                None => leaving.cancelled().await,
            }
        };
        let changed = async {
            while changes.changed().await.is_ok() && self::wanted(world, id) == wanted {}
            leaving.cancel();
        };
        tokio::pin!(linked);
        tokio::select! {
            () = &mut linked => {}
            () = changed => linked.await,
        }
    }
}

/// Nothing while it is disabled.
fn wanted(world: &World, id: CarrierId) -> Option<Carrier> {
    let catalogue = world.catalogue();
    let found = catalogue.carriers().iter().find(|(known, ..)| *known == id);
    found.map(|(_, _, carrier)| carrier).filter(|carrier| !carrier.disabled).cloned()
}

/// Keeps one link to one carrier up.
struct Keeper<'a> {
    world: &'a World,
    id: CarrierId,
    name: &'a str,
    carrier: &'a Carrier,
}

impl Keeper<'_> {
    async fn keep_linked(&mut self, stopping: &CancellationToken) {
        let mut reconnect = Reconnect::default();
        let up = gauge!("hermod_links_bound", "carrier" => self.name.to_owned());
        let attempts = counter!("hermod_bind_attempts_total", "carrier" => self.name.to_owned());
        while !stopping.is_cancelled() {
            attempts.increment(1);
            let ended = self.link_once(stopping, &up).await;
            up.set(0);
            let wait = reconnect.wait_after(&ended, random_u32());
            if stopping.is_cancelled() {
                break;
            }
            tracing::warn!(carrier.name = self.name, reason = %ended, wait_ms = wait.as_millis(), "Link to {} is down", self.name);
            tokio::select! {
                () = self.world.clock.sleep(wait) => {}
                () = stopping.cancelled() => {}
            }
        }
    }

    async fn link_once(&self, stopping: &CancellationToken, up: &metrics::Gauge) -> Ended {
        let stream = tokio::select! {
            stream = connect(&self.world.clock, self.carrier) => stream,
            () = stopping.cancelled() => return Ended::Stopped,
        };
        let stream = match stream {
            Ok(stream) => {
                self.world.alarms.clear(AlarmKind::BadSettings, self.name);
                stream
            }
            Err(fault) => {
                if fault.needs_somebody() {
                    let now = self.world.clock.now();
                    self.world.alarms.raise(
                        AlarmKind::BadSettings,
                        self.name,
                        "connect",
                        &fault.to_string(),
                        now,
                    );
                }
                return Ended::NotConnected(fault);
            }
        };
        let password = match sealed::open(&self.world.pepper, self.name, &self.carrier.password) {
            Ok(password) => password,
            Err(unopened) => return Ended::NoPassword(unopened),
        };
        match Link::new(self.world, self.id, self.name, self.carrier, &password) {
            Ok(link) => link.run(stream, stopping, up).await,
            Err(error) => Ended::BadSettings(error),
        }
    }
}

/// For spreading reconnects out; a predictable one would do no harm.
fn random_u32() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}
