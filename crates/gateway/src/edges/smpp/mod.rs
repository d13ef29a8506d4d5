//! The SMPP server: customers bind, submit, and hear what became of their messages. A connection comes in by the `door`,
//! proves who it is in `bind`, and is then one session.

mod bind;
mod door;
mod guard;
mod settings;

pub use door::{Entrance, Peer};
pub use settings::Settings;

use crate::stream;
use crate::workers::Workers;
use crate::world::World;
use std::sync::Arc;

/// Serves one listener until `workers` stop.
pub async fn serve(entrance: Entrance, world: Arc<World>, settings: Arc<Settings>, workers: Workers) {
    // Sessions are not carried yet: who connects is told goodbye.
    door::serve(
        entrance,
        world.clock.clone(),
        settings,
        workers,
        |mut stream, _peer, _stopping| async move {
            stream::close(&mut stream).await;
        },
    )
    .await;
}
