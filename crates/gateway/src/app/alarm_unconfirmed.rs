//! Raises an alarm for each carrier with parts that ran out of resends without an answer.

use crate::board::AlarmKind;
use crate::world::World;

/// Raises the alarm `unconfirmed-parts`, once per carrier and counted by parts, for what the store has committed since
/// the last call.
pub fn alarm_unconfirmed(world: &World) {
    let counts = world.store.take_unconfirmed();
    if counts.is_empty() {
        return;
    }
    let catalogue = world.catalogue();
    for (carrier, name, _) in catalogue.carriers() {
        let Some(parts) = counts.get(carrier) else { continue };
        let detail = format!(
            "{parts} more got no answer and have no resend left; they count as submitted, and customers are told \
             UNKNOWN at their deadline"
        );
        world.alarms.raise_times(AlarmKind::UnconfirmedParts, name, "", &detail, *parts, world.clock.now());
    }
}
