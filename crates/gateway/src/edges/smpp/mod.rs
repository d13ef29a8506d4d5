//! The SMPP server: customers bind, submit, and hear what became of their messages. A connection comes in by the `door`,
//! proves who it is in `bind`, and is then one session.

mod bind;
mod bind_guard;
mod command_status;
mod handset;
mod hash_queue;
mod listener;
mod query_cancel;
mod receipt_pdu;
mod refused_bind_log;
mod session;
mod settings;
mod submit;

pub use listener::{Entrance, Peer};
pub use settings::Settings;

use crate::workers::Workers;
use crate::world::World;
use std::sync::Arc;

/// Serves one listener until `workers` stop.
pub async fn serve(entrance: Entrance, world: Arc<World>, settings: Arc<Settings>, workers: Workers) {
    let (carried, held_to) = (world.clone(), settings.clone());
    let session = move |stream, peer, place, stopping| {
        session::run(carried.clone(), held_to.clone(), stream, peer, place, stopping)
    };
    let (clock, counting) = (world.clock.clone(), settings.clone());
    tokio::select! {
        () = listener::serve(entrance, clock.clone(), settings, workers, session) => {}
        () = counting.refusals.write_counts(&clock) => {}
    }
}
