//! Alarms about carriers' queues: publishes the length and age of each queue for routing, metrics and the operator, and raises
//! `queue-age`, `queue-expiring`, `unconfirmed-parts` and `reused-message-id`.

use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, LATELY, QueueStatus};
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
        watch_drain(gateway, *id, name, &seen);
    }
}

/// Raises `queue-expiring` while the queue takes longer than its messages are valid.
fn watch_drain(gateway: &Gateway, carrier: CarrierId, name: &str, queue: &QueueStatus) {
    let now = gateway.clock.now();
    let accepted = gateway.carriers.accepted_lately(carrier, gateway.clock.moment());
    let drain = Drain { waiting: queue.waiting, age: queue.age(now), accepted, validity: gateway.validity };
    let cause = drain.is_too_slow().then(|| (String::new(), drain.describe()));
    gateway.alarms.replace(AlarmKind::QueueExpiring, name, cause.as_slice(), now);
}

/// What is known about how long a queue takes.
#[derive(Clone, Copy, Debug)]
struct Drain {
    waiting: u64,
    /// Of the oldest message.
    age: Duration,
    /// Parts that the carrier accepted in [`LATELY`].
    accepted: u64,
    /// Of messages whose customers choose none.
    validity: Duration,
}

impl Drain {
    /// Whether messages will expire before they are sent. The last one may have waited as long as the oldest. While the carrier
    /// accepts nothing there is no estimate: then half of the validity is left to act. A young queue says little, because the
    /// carrier has only begun with it.
    fn is_too_slow(&self) -> bool {
        let Drain { waiting, age, accepted: _, validity } = *self;
        if waiting == 0 || age < QUEUE_AGE_MAX {
            return false;
        }
        match self.needs() {
            Some(needs) => needs.saturating_add(age) > validity,
            None => age > validity / 2,
        }
    }

    /// Returns the time that the queue takes at the present rate.
    fn needs(&self) -> Option<Duration> {
        let seconds = self.waiting.saturating_mul(LATELY.as_secs()).checked_div(self.accepted)?;
        Some(Duration::from_secs(seconds))
    }

    fn describe(&self) -> String {
        let Drain { waiting, age, accepted, validity } = self;
        let minutes = LATELY.as_secs() / 60;
        let needs = match self.needs() {
            Some(needs) => format!(
                "the carrier accepted {accepted} in the last {minutes} minutes, which takes {} more",
                in_words(needs)
            ),
            None => format!("the carrier accepted none in the last {minutes} minutes"),
        };
        format!(
            "{waiting} parts wait, the oldest for {}, and {needs}; messages expire after {}",
            in_words(*age),
            in_words(*validity)
        )
    }
}

/// Returns a time in its largest unit, rounded down.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 2 * 86_400 => format!("{} days", seconds / 86_400),
        seconds if seconds >= 2 * 3_600 => format!("{} hours", seconds / 3_600),
        seconds if seconds >= 2 * 60 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} s"),
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
