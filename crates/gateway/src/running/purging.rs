//! Letting go of what is older than it is to be kept, at a pace that nobody notices.

use crate::clock::Moment;
use crate::config;
use crate::world::World;
use hermod_domain::time::Timestamp;
use hermod_store::{Retention, StoreFault};
use std::sync::Arc;
use std::time::Duration;

/// How long after a start, and after each time, it is looked for.
pub(super) const PURGE: Duration = Duration::from_secs(60);
/// Between two steps. Each is one short transaction, so that whoever waits for the writer hardly waits longer.
const PURGE_PAUSE: Duration = Duration::from_millis(50);

pub(super) fn retention(settings: &config::Retention) -> Retention {
    let config::Retention { text, messages, inbound } = settings;
    Retention { text: (*text).into(), messages: (*messages).into(), inbound: (*inbound).into() }
}

/// What a start believes of a clock that has run ahead of everything stored. A machine that comes up in another year must
/// not have all of it taken for old; where a gateway really was away for long, this catches up with the next start.
const AHEAD_MAX: Duration = Duration::from_secs(7 * 86_400);

pub(super) async fn purge(world: Arc<World>, keep: Retention) -> Result<(), StoreFault> {
    // What waited for its end over a long stop comes to it first: it is swept in the meantime.
    world.clock.sleep(PURGE).await;
    // One time for all steps: what falls due meanwhile must not keep the others from their turn.
    let now = believed(world.clock.now(), world.store.newest_at_open(), world.clock.moment());
    while !world.store.purge(keep, now).await?.is_nothing() {
        world.clock.sleep(PURGE_PAUSE).await;
    }
    Ok(())
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
