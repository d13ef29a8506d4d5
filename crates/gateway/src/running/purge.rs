//! Purges data older than its retention, slowly enough not to delay messages.

use crate::clock::Moment;
use crate::config;
use crate::gateway::Gateway;
use hermod_domain::time::Timestamp;
use hermod_store::{Retention, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// The time between two purges, and before the first.
pub(super) const PURGE: Duration = Duration::from_secs(60);
/// The initial pause between two steps. Each step is a few short transactions, so that messages hardly wait for the
/// writer.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// The shortest pause.
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// The pause is halved after each such period of steps: more data becomes due than the steps delete.
const PAUSE_HALVED_AFTER: Duration = Duration::from_secs(5);

pub(super) fn retention(settings: &config::RetentionSection) -> Retention {
    let config::RetentionSection { text, messages, idempotency_keys, inbound, requests } = settings;
    Retention {
        text: (*text).into(),
        messages: (*messages).into(),
        idempotency_keys: idempotency_keys.unwrap_or(*messages).into(),
        inbound: (*inbound).into(),
        requests: (*requests).into(),
    }
}

/// How far ahead of the newest stored message the clock is trusted at a start. A machine that starts with a wrong year
/// must not purge everything; after a real long stop, the next start catches up.
const AHEAD_MAX: Duration = Duration::from_secs(7 * 86_400);

pub(super) async fn purge(gateway: Arc<Gateway>, keep: Retention) -> Result<(), StoreError> {
    // The sweep expires messages first, after a long stop.
    gateway.clock.sleep(PURGE).await;
    // One time for all steps, so that data that becomes due meanwhile does not extend the purge.
    let now = retention_time(gateway.clock.now(), gateway.store.newest_at_open(), gateway.clock.moment());
    let began = gateway.clock.moment();
    loop {
        let step = gateway.clock.moment();
        if gateway.store.purge(keep, now).await?.is_nothing() {
            return Ok(());
        }
        let done = gateway.clock.moment();
        gateway.clock.sleep(pause(done.since(began), done.since(step))).await;
    }
}

/// Purges the record of a node without the engine. The node with the engine purges its own with the rest.
pub(super) async fn purge_record(gateway: Arc<Gateway>, keep: Retention) -> Result<(), StoreError> {
    if !gateway.store.runs_engine() {
        let now = retention_time(gateway.clock.now(), gateway.store.newest_at_open(), gateway.clock.moment());
        gateway.store.record().purge(keep, now);
    }
    Ok(())
}

/// Returns the pause after a step, given its duration and that of the whole purge so far. It is at least four times
/// the step, so that four fifths of the writer's time are for other work, and at most the time between two purges: the process may
/// have been stopped for days during the step.
fn pause(steps_took: Duration, step_took: Duration) -> Duration {
    let halvings = steps_took.as_millis() / PAUSE_HALVED_AFTER.as_millis();
    let halved = PAUSE_MAX / 2_u32.pow(u32::try_from(halvings.min(16)).unwrap_or(16));
    halved.max(PAUSE_MIN).max(4 * step_took.min(PURGE / 4))
}

/// Returns the time for retention: limited by the newest message at the start.
fn retention_time(now: Timestamp, newest: Option<Timestamp>, since_start: Moment) -> Timestamp {
    let since_start = Duration::from_millis(since_start.0);
    newest.map_or(now, |newest| now.min(newest.plus(AHEAD_MAX).plus(since_start)))
}

#[cfg(test)]
#[path = "purge_tests.rs"]
mod tests;
