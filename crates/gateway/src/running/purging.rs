//! Letting go of what is older than it is to be kept, at a pace that nobody notices.

use crate::config;
use crate::world::World;
use hermod_store::{Retention, StoreFault};
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked for.
pub(super) const PURGE: Duration = Duration::from_secs(60);
/// Between two steps. Each is one short transaction, so that whoever waits for the writer hardly waits longer.
const PURGE_PAUSE: Duration = Duration::from_millis(50);

pub(super) fn retention(settings: &config::Retention) -> Retention {
    let config::Retention { text, messages, inbound } = settings;
    Retention { text: (*text).into(), messages: (*messages).into(), inbound: (*inbound).into() }
}

pub(super) async fn purge(world: Arc<World>, keep: Retention) -> Result<(), StoreFault> {
    while !world.store.purge(keep, world.clock.now()).await?.is_nothing() {
        world.clock.sleep(PURGE_PAUSE).await;
    }
    Ok(())
}
