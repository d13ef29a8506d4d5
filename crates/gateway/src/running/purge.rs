//! Letting go of what is older than it is to be kept, at a pace that nobody notices.

use crate::clock::Moment;
use crate::config;
use crate::running::since;
use crate::world::World;
use hermod_domain::time::Timestamp;
use hermod_store::{Retention, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How long after a start, and after each time, it is looked for.
pub(super) const PURGE: Duration = Duration::from_secs(60);
/// The pause between two steps at first. Each is a few short transactions, so that messages hardly wait longer for the
/// writer.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// The pause is never shorter, however much is due.
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// The pause is halved each time that the steps have gone on for so long: more falls due than they delete.
const PAUSE_HALVED_AFTER: Duration = Duration::from_secs(5);

pub(super) fn retention(settings: &config::Retention) -> Retention {
    let config::Retention { text, messages, idempotency_keys, inbound } = settings;
    Retention {
        text: (*text).into(),
        messages: (*messages).into(),
        idempotency_keys: idempotency_keys.unwrap_or(*messages).into(),
        inbound: (*inbound).into(),
    }
}

/// What a start believes of a clock that has run ahead of everything stored. A machine that comes up in another year must
/// not have all of it taken for old; where a gateway really was away for long, this catches up with the next start.
const AHEAD_MAX: Duration = Duration::from_secs(7 * 86_400);

pub(super) async fn purge(world: Arc<World>, keep: Retention) -> Result<(), StoreError> {
    // What waited for its end over a long stop comes to it first: it is swept in the meantime.
    world.clock.sleep(PURGE).await;
    // One time for all steps: what falls due meanwhile must not keep the others from their turn.
    let now = believed(world.clock.now(), world.store.newest_at_open(), world.clock.moment());
    let began = world.clock.moment();
    loop {
        let step = world.clock.moment();
        if world.store.purge(keep, now).await?.is_nothing() {
            return Ok(());
        }
        let done = world.clock.moment();
        world.clock.sleep(pause(since(began, done), since(step, done))).await;
    }
}

/// Returns the pause after a step that took so long, in a row of steps that has gone on for so long. It is no shorter than
/// four times the step: four fifths of the writer's time are for everything else, and a step takes longer where the writer
/// has much to do.
fn pause(steps_took: Duration, step_took: Duration) -> Duration {
    let halvings = steps_took.as_millis() / PAUSE_HALVED_AFTER.as_millis();
    let halved = PAUSE_MAX / 2_u32.pow(u32::try_from(halvings.min(16)).unwrap_or(16));
    halved.max(PAUSE_MIN).max(4 * step_took)
}

/// The time that things are old by, so long after a start that found this as the newest message.
fn believed(now: Timestamp, newest: Option<Timestamp>, since_start: Moment) -> Timestamp {
    let since_start = Duration::from_millis(since_start.0);
    newest.map_or(now, |newest| now.min(newest.plus(AHEAD_MAX).plus(since_start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_between_steps_shrinks_while_more_falls_due_than_they_delete() {
        for (steps_took_s, step_took_ms, expect_ms) in [
            (0, 3, 50),
            (4, 3, 50),
            (5, 3, 25),
            (10, 3, 12),
            (60, 0, 2),
            (86_400, 1, 4),
            (60, 10, 40),
            (60, 500, 2_000),
        ] {
            let pause = pause(Duration::from_secs(steps_took_s), Duration::from_millis(step_took_ms));
            assert_eq!(pause.as_millis(), expect_ms, "{steps_took_s} s, {step_took_ms} ms");
        }
    }

    #[test]
    fn a_clock_far_ahead_of_everything_stored_is_believed_by_and_by() {
        const DAY: u64 = 86_400_000;
        let at = |days: u64| Timestamp::from_millis(i64::try_from(days * DAY).unwrap());
        for (now, newest, days_since_start, expect) in [
            (20_000, None, 0, 20_000),
            (20_000, Some(19_999), 0, 20_000),
            (20_000, Some(19_993), 0, 20_000),
            (20_365, Some(20_000), 0, 20_007),
            (20_465, Some(20_000), 100, 20_107),
            (20_000, Some(20_400), 0, 20_000),
        ] {
            let believed = believed(at(now), newest.map(at), Moment(days_since_start * DAY));
            assert_eq!(believed, at(expect), "{now} after {newest:?}");
        }
    }
}
