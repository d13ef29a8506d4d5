//! Keys over several days, with and without their filters.

use crate::embedded::schema;
use crate::sqlite::SqliteTables;
use hermod_domain::ids::IdMint;
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use hermod_engine::idempotency_keys::*;
use hermod_engine::ops::{KeyClaim, Replay};
use hermod_engine::tables::{KeyFilterPart, Tables};
use rusqlite::Connection;
use tempfile::TempDir;

const MONDAY: i64 = 20_771;

struct World {
    connection: Connection,
    keys: KeyDays,
    mint: IdMint,
    _folder: TempDir,
}

impl World {
    fn new() -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let keys = KeyDays::load(&tables(&connection)).unwrap();
        World { connection, keys, mint: IdMint::new(0, None), _folder: folder }
    }

    /// What a send with this key came to: its own message number, or the earlier one's.
    fn sends(&mut self, key: u64, day: i64) -> MessageId {
        let message = self.mint.mint(Day::new(day).start());
        let used_before =
            self.keys.find_before(&tables(&self.connection), &claim(key), Day::new(day)).unwrap();
        if let Some(replay) = used_before {
            return replay.message;
        }
        match self.keys.claim(&tables(&self.connection), &claim(key), message).unwrap() {
            Claimed::New => message,
            Claimed::Used(replay) => replay.message,
        }
    }

    /// What the daily upkeep does.
    fn seals(&mut self, today: i64) -> Vec<i64> {
        let tables = tables(&self.connection);
        let days = days_to_seal(&tables, Day::new(today)).unwrap();
        for day in &days {
            while let Some(part) = build_next_part(&tables, *day, FILTER_KEYS_PER_PART).unwrap() {
                tables.read().unwrap().put_key_filter_part(*day, &part).unwrap();
            }
        }
        self.keys.load_filters(&tables).unwrap();
        days.into_iter().map(Day::get).collect()
    }

    fn finds(&self, key: u64) -> Option<Replay> {
        self.keys.find(&tables(&self.connection), &claim(key)).unwrap()
    }

    /// Makes any look-up in that day's table an error.
    fn forbid_lookups(&self, day: i64) {
        self.connection.execute_batch(&format!("DROP TABLE key_{day}")).unwrap();
    }
}

fn tables(connection: &Connection) -> Tables<'_> {
    SqliteTables::of(connection)
}

fn claim(key: u64) -> KeyClaim {
    let mut digest = [7; 16];
    // Spread as a real digest is.
    digest[..8].copy_from_slice(&key.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    KeyClaim { digest, fingerprint: key }
}

#[test]
fn a_key_makes_one_message_on_one_day() {
    let mut world = World::new();
    let first = world.sends(1, MONDAY);
    assert_eq!(world.sends(1, MONDAY), first);
    assert_ne!(world.sends(2, MONDAY), first);
}

#[test]
fn a_key_is_remembered_over_midnight_and_for_days() {
    let mut world = World::new();
    let first = world.sends(1, MONDAY);
    for day in [MONDAY + 1, MONDAY + 3, MONDAY + 300] {
        assert_eq!(world.sends(1, day), first, "day {day}");
    }
}

#[test]
fn another_request_under_the_same_key_is_told() {
    let mut world = World::new();
    let message = world.sends(1, MONDAY);
    let KeyClaim { digest, .. } = claim(1);
    let other = KeyClaim { digest, fingerprint: 99 };
    let replay = |same_request| Some(Replay { message, same_request });
    assert_eq!(world.keys.find(&tables(&world.connection), &other).unwrap(), replay(false));
    assert_eq!(world.finds(1), replay(true));
    // A fingerprint with its highest bit set survives the signed column.
    let high = KeyClaim { digest: [9; 16], fingerprint: u64::MAX };
    let id = world.mint.mint(Day::new(MONDAY).start());
    assert!(matches!(world.keys.claim(&tables(&world.connection), &high, id).unwrap(), Claimed::New));
    let found = world.keys.find(&tables(&world.connection), &high).unwrap();
    assert_eq!(found, Some(Replay { message: id, same_request: true }));
}

#[test]
fn a_sealed_day_is_found_through_its_filter_and_costs_new_keys_no_lookup() {
    let mut world = World::new();
    let messages: Vec<MessageId> = (0..1_000).map(|key| world.sends(key, MONDAY)).collect();
    world.sends(5_000, MONDAY + 2);
    assert_eq!(world.seals(MONDAY + 3), [MONDAY]);
    for (key, message) in (0..).zip(&messages) {
        assert_eq!(world.finds(key).map(|replay| replay.message), Some(*message), "key {key}");
    }
    // Without a table to look in, only a false alarm of the filter (one in 256) can fail.
    world.forbid_lookups(MONDAY);
    let looked_up =
        (10_000..14_000).filter(|key| world.keys.find(&tables(&world.connection), &claim(*key)).is_err());
    assert!(looked_up.count() < 4_000 / 64);
    assert!(world.keys.find(&tables(&world.connection), &claim(1)).is_err(), "a used key is looked up");
}

#[test]
fn filters_are_there_again_after_a_restart() {
    let mut world = World::new();
    let message = world.sends(1, MONDAY);
    world.sends(2, MONDAY + 1);
    world.seals(MONDAY + 3);
    world.keys = KeyDays::load(&tables(&world.connection)).unwrap();
    assert_eq!(world.finds(1).map(|replay| replay.message), Some(message));
    assert!(world.keys.days.iter().any(|day| day.day.get() == MONDAY && day.filter.is_some()));
}

#[test]
fn a_day_that_may_still_get_keys_is_not_sealed() {
    let mut world = World::new();
    world.sends(1, MONDAY);
    // The clock was three days ahead for a moment; the next message is still Monday's.
    assert_eq!(world.seals(MONDAY + 3), [] as [i64; 0]);
    world.sends(2, MONDAY);
    assert!(world.finds(2).is_some());
    world.sends(3, MONDAY + 1);
    assert_eq!(world.seals(MONDAY + 1), [MONDAY], "from here on ids are Tuesday's");
    assert_eq!(world.seals(MONDAY + 1), [] as [i64; 0], "once is enough");
    assert!([1, 2, 3].iter().all(|key| world.finds(*key).is_some()));
}

#[test]
fn filters_beyond_their_memory_are_left_to_the_tables() {
    let mut world = World::new();
    world.sends(1, MONDAY);
    world.sends(2, MONDAY + 1);
    world.sends(3, MONDAY + 2);
    world.seals(MONDAY + 2);
    let loaded = |world: &World| -> Vec<i64> {
        world.keys.days.iter().filter(|day| day.filter.is_some()).map(|day| day.day.get()).collect()
    };
    assert_eq!(loaded(&world), [MONDAY + 1, MONDAY]);
    // Tuesday's grows beyond what is left: Monday's makes room, and nothing underflows.
    let huge = DayFilter(vec![KeyFilterPart { no: 0, upto: u64::MAX, bytes: vec![0; FILTER_BYTES_MAX] }]);
    world.keys.days.iter_mut().find(|day| day.day.get() == MONDAY + 1).unwrap().filter = Some(huge);
    world.keys.load_filters(&tables(&world.connection)).unwrap();
    assert_eq!(loaded(&world), [MONDAY + 1]);
    world.keys.days.retain(|day| day.day.get() != MONDAY + 1);
    assert!(world.finds(1).is_some(), "found in its table");
}

#[test]
fn a_filter_is_built_in_parts_of_so_many_keys_and_goes_on_after_a_crash() {
    let mut world = World::new();
    let messages: Vec<MessageId> = (0..1_000).map(|key| world.sends(key, MONDAY)).collect();
    world.sends(5_000, MONDAY + 1);
    let monday = Day::new(MONDAY);
    let builds = |world: &World, parts: usize| {
        let tables = tables(&world.connection);
        let built = || build_next_part(&tables, monday, 100).unwrap();
        let stored = |part: KeyFilterPart| tables.read().unwrap().put_key_filter_part(monday, &part).unwrap();
        (0..parts).map_while(|_| built().map(stored)).count()
    };
    assert_eq!(builds(&world, 4), 4);
    world.keys = KeyDays::load(&tables(&world.connection)).unwrap();
    assert!(world.keys.days.iter().all(|day| day.filter.is_none()), "a filter without its end is not used");
    assert_eq!(days_to_seal(&tables(&world.connection), Day::new(MONDAY + 2)).unwrap(), [monday]);
    assert_eq!(builds(&world, 100), 7, "six of a hundred keys, and the end");
    assert!(days_to_seal(&tables(&world.connection), Day::new(MONDAY + 2)).unwrap().is_empty());
    let parts = tables(&world.connection).read().unwrap().key_filter_parts(monday).unwrap();
    assert!(parts.iter().all(|part| part.bytes.len() < 400), "none has more than its share");
    world.keys = KeyDays::load(&tables(&world.connection)).unwrap();
    for (key, message) in (0..).zip(&messages) {
        assert_eq!(world.finds(key).map(|replay| replay.message), Some(*message), "key {key}");
    }
    world.forbid_lookups(MONDAY);
    let looked_up =
        (10_000..14_000).filter(|key| world.keys.find(&tables(&world.connection), &claim(*key)).is_err());
    assert!(looked_up.count() < 4_000 / 64);
}

#[test]
fn a_filter_of_schema_9_is_the_only_part_of_its_day() {
    let folder = TempDir::new().unwrap();
    let connection = schema::open_for_writing(folder.path()).unwrap();
    let mut world =
        World { connection, keys: KeyDays { days: Vec::new() }, mint: IdMint::new(0, None), _folder: folder };
    let message = world.sends(1, MONDAY);
    world.sends(2, MONDAY + 1);
    world.sends(3, MONDAY + 2);
    world.seals(MONDAY + 2);
    let before = "
        CREATE TABLE before_10 (day INTEGER PRIMARY KEY, filter BLOB NOT NULL) STRICT;
        INSERT INTO before_10 SELECT day, CASE day WHEN 20771 THEN filter ELSE x'00' END FROM key_filter;
        DROP TABLE key_filter; ALTER TABLE before_10 RENAME TO key_filter;";
    world.connection.execute_batch(before).unwrap();
    world.connection.execute_batch(schema::key_filters::PARTS).unwrap();
    world.keys = KeyDays::load(&tables(&world.connection)).unwrap();
    assert_eq!(world.finds(1).map(|replay| replay.message), Some(message));
    assert!(world.keys.days.iter().any(|day| day.day.get() == MONDAY && day.filter.is_some()));
    assert_eq!(world.seals(MONDAY + 2), [MONDAY + 1], "one that is too short is built again");
    assert!(world.finds(2).is_some());
}
