//! What is looked at every second: the clock, the disk, the store's log, and parts without an answer.

use crate::app::alarm_unconfirmed;
use crate::telemetry;
use crate::world::World;

/// Looks once. Raises and clears alarms, and folds the figures of the metrics.
pub(super) fn look(world: &World) {
    world.follow_the_clock();
    alarm_unconfirmed(world);
    world.store.look_at_disk();
    world.watch_store_log();
    telemetry::figures().fold();
}
