//! Alarms about carriers' queues: publishes the length and age of each queue for routing, metrics and the operator, and raises
//! `queue-age`, `unconfirmed-parts` and `reused-message-id`.

use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, QueueStatus};
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_store::CarrierQueue;
use metrics::gauge;
use std::collections::BTreeMap;
use std::time::Duration;

/// A message that the carrier has not accepted for this long raises an alarm.
pub const QUEUE_AGE_MAX: Duration = Duration::from_secs(300);

/// Publishes the queues and raises or clears `queue-age`. To be called every few seconds.
pub(super) fn watch_queues(gateway: &Gateway, queues: &[CarrierQueue]) {
    let now = gateway.clock.now();
    for (id, name, _) in gateway.catalogue().carriers() {
        let queue = queues.iter().find(|queue| queue.carrier == *id);
        let seen = queue.map_or(QueueStatus::default(), status_of);
        gateway.carriers.open(*id, name).set_queue(seen);
        let age = seen.age(now);
        gauge!("hermod_carrier_waiting", "carrier" => name.clone())
            .set(u32::try_from(seen.waiting).unwrap_or(u32::MAX));
        gauge!("hermod_carrier_oldest_waiting_seconds", "carrier" => name.clone())
            .set(u32::try_from(age.as_secs()).unwrap_or(u32::MAX));
        let raised = gateway.alarms.is_raised(AlarmKind::QueueAge, name);
        let accepts = gateway.carriers.accepts(*id, gateway.clock.moment());
        match (raised, is_too_old(raised && !accepts, &seen, now)) {
            (true, false) => gateway.alarms.clear(AlarmKind::QueueAge, name),
            (false, true) => {
                let detail = format!(
                    "{} parts wait, {} of them for a retry, and the oldest message has waited {} s (limit {} s)",
                    seen.waiting,
                    seen.deferred,
                    age.as_secs(),
                    QUEUE_AGE_MAX.as_secs()
                );
                gateway.alarms.raise(AlarmKind::QueueAge, name, "", &detail, now);
            }
            (true, true) | (false, false) => {}
        }
    }
}

fn status_of(queue: &CarrierQueue) -> QueueStatus {
    let CarrierQueue { carrier: _, waiting, in_flight, deferred, oldest, oldest_for_slot } = *queue;
    let deferred = u64::try_from(deferred).unwrap_or(u64::MAX);
    QueueStatus { waiting, deferred, in_flight, oldest, oldest_for_slot }
}

/// Whether a queue deserves `queue-age`. While nothing waits, parts are in flight and the carrier accepts none, the alarm stays
/// as it is: the old message may be among them, and be refused again. `raised`: it is raised and the carrier accepts nothing.
fn is_too_old(raised: bool, queue: &QueueStatus, now: Timestamp) -> bool {
    match queue.oldest {
        Some(_) => queue.age(now) >= QUEUE_AGE_MAX,
        None => raised && queue.in_flight > 0,
    }
}

/// Raises `unconfirmed-parts` and `reused-message-id` per carrier, counted by parts, for what the store has committed
/// since the last call.
pub fn alarm_carrier_counts(gateway: &Gateway) {
    raise_per_carrier(
        gateway,
        AlarmKind::UnconfirmedParts,
        &gateway.store.receipts().take_unconfirmed(),
        |parts| {
            format!(
                "{parts} parts got no response and have no resend left; they count as submitted and are reported UNKNOWN at \
             their deadline"
            )
        },
    );
    raise_per_carrier(
        gateway,
        AlarmKind::ReusedMessageId,
        &gateway.store.receipts().take_reused_ids(),
        |parts| {
            format!(
                "{parts} parts got a message id that the carrier had given to another part on the same day; a receipt for \
             such an id is applied only if its number fits one of them, or all are of one account"
            )
        },
    );
}

fn raise_per_carrier(
    gateway: &Gateway,
    kind: AlarmKind,
    counts: &BTreeMap<CarrierId, u64>,
    describe: impl Fn(u64) -> String,
) {
    if counts.is_empty() {
        return;
    }
    for (carrier, name, _) in gateway.catalogue().carriers() {
        if let Some(parts) = counts.get(carrier) {
            gateway.alarms.raise_times(kind, name, "", &describe(*parts), *parts, gateway.clock.now());
        }
    }
}

#[cfg(test)]
#[path = "queue_alarms_tests.rs"]
mod tests;
