//! What waits for each carrier, for routing, metrics and the operator: how much, for how long, and whether that is too long.

use crate::board::{AlarmKind, QueueSeen};
use crate::world::World;
use hermod_store::CarrierQueue;
use metrics::gauge;
use std::time::Duration;

/// A message that waits for a slot at its carrier for this long raises an alarm.
pub const QUEUE_AGE_MAX: Duration = Duration::from_secs(300);

/// Notes the queues on the board and raises or clears `queue-age`. To be called every few seconds.
pub(super) fn watch_queues(world: &World, queues: &[CarrierQueue]) {
    let now = world.clock.now();
    for (id, name, _) in world.catalogue().carriers() {
        let queue = queues.iter().find(|queue| queue.carrier == *id);
        let seen = queue
            .map_or(QueueSeen::default(), |queue| QueueSeen { waiting: queue.waiting, oldest: queue.oldest });
        let state = world.carriers.open(*id, name);
        state.set_queue(seen);
        let age = seen.age(now);
        gauge!("hermod_carrier_waiting", "carrier" => name.clone())
            .set(u32::try_from(seen.waiting).unwrap_or(u32::MAX));
        gauge!("hermod_carrier_oldest_waiting_seconds", "carrier" => name.clone())
            .set(u32::try_from(age.as_secs()).unwrap_or(u32::MAX));
        let raised = world.alarms.is_raised(AlarmKind::QueueAge, name);
        if raised && age < QUEUE_AGE_MAX {
            world.alarms.clear(AlarmKind::QueueAge, name);
        }
        if !raised && age >= QUEUE_AGE_MAX {
            let detail = format!(
                "{} parts wait, and the oldest message has waited for {} s: the limit is {} s",
                seen.waiting,
                age.as_secs(),
                QUEUE_AGE_MAX.as_secs()
            );
            world.alarms.raise(AlarmKind::QueueAge, name, "", &detail, now);
        }
    }
}
