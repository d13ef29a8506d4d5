//! Links to carriers. For each carrier one task dials, binds, sends what the store hands out and reports what the
//! carrier says, and comes back after every loss, ever more patiently. The protocol is decided by the pure session of
//! the SMPP crate; what answers mean, how fast to go and when to come back are decided by the pure modules here.

mod answers;
mod backoff;
mod flow;
mod link;
mod submit;

use crate::workers::Workers;
use crate::world::World;
use backoff::{Ended, Reconnect};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use link::Link;
use metrics::{counter, gauge};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// TCP connect, at most.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// Unacknowledged data for this long means the peer is gone, whatever else it looks like.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts a task for each carrier of the catalogue. They end when the workers are told to stop, after answering for
/// what was under way.
pub fn supervise(world: &Arc<World>, workers: &Workers) {
    for (id, name, carrier) in world.catalogue().carriers() {
        let (world, id, name, carrier) = (world.clone(), *id, name.clone(), carrier.clone());
        let stopping = workers.stopping();
        workers.spawn_named(format!("carrier/{name}"), async move {
            let mut keeper = Keeper { world: &world, id, name: &name, carrier: &carrier };
            keeper.keep_linked(&stopping).await;
        });
    }
}

/// Keeps one link to one carrier up.
struct Keeper<'a> {
    world: &'a World,
    id: CarrierId,
    name: &'a str,
    carrier: &'a Carrier,
}

impl Keeper<'_> {
    async fn keep_linked(&mut self, stopping: &tokio_util::sync::CancellationToken) {
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

    async fn link_once(&self, stopping: &tokio_util::sync::CancellationToken, up: &metrics::Gauge) -> Ended {
        let stream = tokio::select! {
            stream = TcpStream::connect(&self.carrier.address) => stream,
            () = self.world.clock.sleep(CONNECT_WAIT) => return Ended::ConnectTimeout,
            () = stopping.cancelled() => return Ended::Stopped,
        };
        let stream = match stream.and_then(tune) {
            Ok(stream) => stream,
            Err(error) => return Ended::NotConnected(error),
        };
        match Link::new(self.world, self.id, self.carrier) {
            Ok(link) => link.run(stream, stopping, up).await,
            Err(error) => Ended::BadSettings(error),
        }
    }
}

fn tune(stream: TcpStream) -> std::io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let timeout = u32::try_from(USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&stream, timeout)?;
    Ok(stream)
}

/// For spreading reconnects out; a predictable one would do no harm.
fn random_u32() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}
