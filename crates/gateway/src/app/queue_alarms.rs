//! Alarms about carriers' queues: publishes the length and age of each queue for routing, metrics and the operator, and raises
//! `queue-age`, `unconfirmed-parts` and `reused-message-id`.

use crate::board::{AlarmKind, QueueStatus};
use crate::world::World;
use hermod_domain::ids::CarrierId;
use hermod_store::CarrierQueue;
use metrics::gauge;
use std::collections::BTreeMap;
use std::time::Duration;

/// A message that waits this long for a slot raises an alarm.
pub const QUEUE_AGE_MAX: Duration = Duration::from_secs(300);

/// Publishes the queues and raises or clears `queue-age`. To be called every few seconds.
pub(super) fn watch_queues(world: &World, queues: &[CarrierQueue]) {
    let now = world.clock.now();
    for (id, name, _) in world.catalogue().carriers() {
        let queue = queues.iter().find(|queue| queue.carrier == *id);
        let seen = queue.map_or(QueueStatus::default(), |queue| QueueStatus {
            waiting: queue.waiting,
            oldest: queue.oldest,
        });
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
                "{} parts are queued, and the oldest message has waited {} s (limit {} s)",
                seen.waiting,
                age.as_secs(),
                QUEUE_AGE_MAX.as_secs()
            );
            world.alarms.raise(AlarmKind::QueueAge, name, "", &detail, now);
        }
    }
}

/// Raises `unconfirmed-parts` and `reused-message-id` per carrier, counted by parts, for what the store has committed
/// since the last call.
pub fn alarm_carrier_counts(world: &World) {
    raise_per_carrier(world, AlarmKind::UnconfirmedParts, &world.store.take_unconfirmed(), |parts| {
        format!(
            "{parts} parts got no response and have no resend left; they count as submitted and are reported UNKNOWN at \
             their deadline"
        )
    });
    raise_per_carrier(world, AlarmKind::ReusedMessageId, &world.store.take_reused_ids(), |parts| {
        format!(
            "{parts} parts got a message id that the carrier had given to another part on the same day; a receipt for \
             such an id is applied only if its number fits one of them, or all are of one account"
        )
    });
}

fn raise_per_carrier(
    world: &World,
    kind: AlarmKind,
    counts: &BTreeMap<CarrierId, u64>,
    describe: impl Fn(u64) -> String,
) {
    if counts.is_empty() {
        return;
    }
    for (carrier, name, _) in world.catalogue().carriers() {
        if let Some(parts) = counts.get(carrier) {
            world.alarms.raise_times(kind, name, "", &describe(*parts), *parts, world.clock.now());
        }
    }
}
