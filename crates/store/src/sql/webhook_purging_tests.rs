//! Unit tests of `webhook_purging.rs`.

use super::*;

const BEFORE: Timestamp = Timestamp::from_millis(1_000);

/// A table of endpoints, each with events that were created and ended at these times.
fn table(endpoints: u32, events: &[(i64, i64)]) -> Connection {
    let tables = Connection::in_memory();
    let make = "CREATE TABLE webhook_past (account, kind, id, at, ended_at, PRIMARY KEY (account, kind, id))";
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

fn keys(found: &OldEvents) -> Vec<(u32, u8, u64)> {
    let key = |key: &EventKey| (key.endpoint.account.get(), key.endpoint.kind.as_u8(), key.event.0);
    found.events.iter().map(key).collect()
}

#[test]
fn only_events_past_their_retention_are_found() {
    // Old; replayed and ended again; new; after a new one the search stops.
    let tables = table(3, &[(1, 1_000), (2, 1_001), (3, 900), (1_001, 1_002), (4, 5)]);
    let found = old_events(&tables, EndedPlace::default(), BEFORE).unwrap();
    assert_eq!(keys(&found), [(1, 1, 1), (1, 1, 3), (2, 1, 6), (2, 1, 8), (3, 1, 11), (3, 1, 13)]);
    assert_eq!(found.next, None);
    let young = table(2, &[(1_001, 1_002)]);
    let found = old_events(&young, EndedPlace::default(), BEFORE).unwrap();
    assert!(found.events.is_empty() && found.next.is_none(), "nothing to delete");
}

#[test]
fn each_read_is_bounded_in_events_and_endpoints_and_the_next_continues() {
    let many = vec![(1, 1); EVENTS_PER_STEP + 1];
    let tables = table(1, &many);
    let first = old_events(&tables, EndedPlace::default(), BEFORE).unwrap();
    assert_eq!((first.events.len(), first.next), (EVENTS_PER_STEP, Some(EndedPlace(1, 1, 500))));
    let second = old_events(&tables, EndedPlace(1, 1, 500), BEFORE).unwrap();
    assert_eq!((keys(&second), second.next), (vec![(1, 1, 501)], None));

    let endpoints = u32::try_from(ENDPOINTS_PER_STEP).unwrap();
    let tables = table(endpoints + 1, &[(1_001, 1_002)]);
    let first = old_events(&tables, EndedPlace::default(), BEFORE).unwrap();
    assert_eq!((first.events.len(), first.next), (0, Some(EndedPlace(endpoints, 1, i64::MAX))));
    let second = old_events(&tables, EndedPlace(endpoints, 1, i64::MAX), BEFORE).unwrap();
    assert_eq!((second.events.len(), second.next), (0, None));
}
