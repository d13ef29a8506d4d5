//! Events that ended long ago go, with their attempts, a few at a time. A reader finds them, so that the writer is asked only
//! where there is something to forget.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::HOOKS_KEPT;
use rusqlite::{Connection, params};

/// Events looked at in one read, and forgotten in one transaction.
const EVENTS_PER_STEP: usize = 500;
/// Endpoints looked at in one read.
const ENDPOINTS_PER_STEP: usize = 1_000;
/// Steps in one call. The next call goes on: what is gone is not in its way.
const STEPS_PER_CALL: usize = 200;

/// Account, kind and number of an event, as they are stored.
type Place = (i64, i64, i64);

impl Embedded {
    pub(crate) async fn forget_hooks(&self, now: Timestamp) -> Result<(), StoreFault> {
        let before = now.minus(HOOKS_KEPT);
        let mut after = (0, 0, 0);
        for _ in 0..STEPS_PER_CALL {
            let Found { old, next } =
                self.inner.readers.run(move |connection| find(connection, after, before)).await?;
            if !old.is_empty() {
                self.request(move |batch| batch.forget_hooks(&old, before, now)).await?;
            }
            let Some(next) = next else { break };
            after = next;
        }
        Ok(())
    }
}

struct Found {
    old: Vec<Place>,
    /// Behind which to go on; nothing at the end.
    next: Option<Place>,
}

/// Events that ended before a time. They come to be in the order of time: behind one that is young, its endpoint has none
/// that ended long ago.
fn find(connection: &Connection, after: Place, before: Timestamp) -> Result<Found, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT account, kind, id, at, ended_at FROM webhook_past
         WHERE (account, kind, id) > (?1, ?2, ?3) ORDER BY account, kind, id",
    )?;
    let (mut found, mut place, mut looked_at) = (Vec::new(), after, 0);
    for _ in 0..ENDPOINTS_PER_STEP {
        let mut rows = statement.query(params![place.0, place.1, place.2])?;
        loop {
            let Some(row) = rows.next()? else { return Ok(Found { old: found, next: None }) };
            let (account, kind, id, at, ended_at): (i64, i64, i64, i64, i64) = row.try_into()?;
            if at > before.as_millis() {
                place = (account, kind, i64::MAX);
                break;
            }
            place = (account, kind, id);
            if ended_at <= before.as_millis() {
                found.push(place);
            }
            looked_at += 1;
            if looked_at == EVENTS_PER_STEP {
                return Ok(Found { old: found, next: Some(place) });
            }
        }
    }
    Ok(Found { old: found, next: Some(place) })
}

impl Batch<'_> {
    fn forget_hooks(
        &mut self,
        events: &[Place],
        before: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreFault> {
        self.at(now);
        for (account, kind, id) in events {
            // It may have been replayed meanwhile, and have ended again.
            let gone = self
                .connection
                .prepare_cached(
                    "DELETE FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3 AND ended_at <= ?4",
                )?
                .execute(params![account, kind, id, before.as_millis()])?;
            if gone > 0 {
                self.connection
                    .prepare_cached(
                        "DELETE FROM webhook_attempt WHERE account = ?1 AND kind = ?2 AND event = ?3",
                    )?
                    .execute(params![account, kind, id])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Timestamp = Timestamp::from_millis(1_000);

    /// So many endpoints, each with events that happened and ended at these times.
    fn table(endpoints: i64, events: &[(i64, i64)]) -> Connection {
        let tables = Connection::open_in_memory().unwrap();
        let make =
            "CREATE TABLE webhook_past (account, kind, id, at, ended_at, PRIMARY KEY (account, kind, id))";
        tables.execute_batch(make).unwrap();
        let mut id = 0;
        for account in 1..=endpoints {
            for (at, ended_at) in events {
                id += 1;
                let row = params![account, id, at, ended_at];
                tables.execute("INSERT INTO webhook_past VALUES (?1, 1, ?2, ?3, ?4)", row).unwrap();
            }
        }
        tables
    }

    #[test]
    fn only_what_ended_long_ago_is_found_and_the_young_are_passed_by() {
        // Old; replayed and ended again; young; behind a young one nothing is looked for.
        let tables = table(3, &[(1, 1_000), (2, 1_001), (3, 900), (1_001, 1_002), (4, 5)]);
        let found = find(&tables, (0, 0, 0), BEFORE).unwrap();
        assert_eq!(found.old, [(1, 1, 1), (1, 1, 3), (2, 1, 6), (2, 1, 8), (3, 1, 11), (3, 1, 13)]);
        assert_eq!(found.next, None);
        let young = table(2, &[(1_001, 1_002)]);
        let found = find(&young, (0, 0, 0), BEFORE).unwrap();
        assert!(found.old.is_empty() && found.next.is_none(), "the writer has nothing to do");
    }

    #[test]
    fn a_step_looks_at_so_many_events_and_endpoints_and_the_next_goes_on() {
        let many = vec![(1, 1); EVENTS_PER_STEP + 1];
        let tables = table(1, &many);
        let first = find(&tables, (0, 0, 0), BEFORE).unwrap();
        assert_eq!((first.old.len(), first.next), (EVENTS_PER_STEP, Some((1, 1, 500))));
        let second = find(&tables, (1, 1, 500), BEFORE).unwrap();
        assert_eq!((second.old, second.next), (vec![(1, 1, 501)], None));

        let endpoints = i64::try_from(ENDPOINTS_PER_STEP).unwrap();
        let tables = table(endpoints + 1, &[(1_001, 1_002)]);
        let first = find(&tables, (0, 0, 0), BEFORE).unwrap();
        assert_eq!((first.old.len(), first.next), (0, Some((endpoints, 1, i64::MAX))));
        let second = find(&tables, (endpoints, 1, i64::MAX), BEFORE).unwrap();
        assert_eq!((second.old.len(), second.next), (0, None));
    }
}
