//! Tests of idempotency keys over days, seals, merges, restarts and rollbacks.

use crate::sql::Connection;
use crate::sql::SqlTables;
use crate::sql::changing;
use crate::sqlite::schema;
use hermod_domain::ids::{IdMint, MessageId};
use hermod_domain::time::Day;
use hermod_engine::ops::{Duplicate, KeyClaim};
use hermod_engine::state::idempotency_keys::*;
use hermod_engine::tables::{IdempotencyKeyRows, KeyBucketState, Tables};
use std::collections::BTreeMap;
use tempfile::TempDir;

const MONDAY: i64 = 20_771;
/// Small enough that a few hundred keys are sealed and merged.
const SMALL: KeyLimits = KeyLimits { sealed_keys: 50, filter_bytes: 1 << 20 };

struct World {
    connection: Connection,
    keys: IdempotencyKeys,
    mint: IdMint,
    limits: KeyLimits,
    _folder: TempDir,
}

impl World {
    fn new(limits: KeyLimits) -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let keys = IdempotencyKeys::load(&tables(&connection), limits).unwrap();
        World { connection, keys, mint: IdMint::new(0, None), limits, _folder: folder }
    }

    /// Claims keys in one batch, and returns the message of each: a new one, or the earlier one of a duplicate.
    fn sends(&mut self, keys: &[u64], day: i64) -> Vec<MessageId> {
        let messages = self.tries_to_send(keys, day);
        self.commits();
        messages
    }

    fn tries_to_send(&mut self, keys: &[u64], day: i64) -> Vec<MessageId> {
        self.connection.execute_batch("BEGIN").unwrap();
        let mut messages = Vec::new();
        for key in keys {
            let message = self.mint.mint(Day::new(day).start());
            let found = self.finds(*key);
            if found.is_none() {
                self.keys.claim(&claim(*key), message);
            }
            messages.push(found.map_or(message, |replay| replay.message));
        }
        changing(&self.connection, |tables| self.keys.write(tables));
        messages
    }

    fn commits(&mut self) {
        self.connection.execute_batch("COMMIT").unwrap();
        self.keys.committed();
    }

    fn rolls_back(&mut self) {
        self.connection.execute_batch("ROLLBACK").unwrap();
        self.keys.rolled_back();
    }

    fn restarts(&mut self) {
        self.keys = IdempotencyKeys::load(&tables(&self.connection), self.limits).unwrap();
    }

    /// Runs one merge step. Returns false if there is none.
    fn takes_step(&mut self, commits: bool) -> bool {
        let Some(step) = next_step(&SqlTables { connection: &self.connection }, self.limits).unwrap() else {
            return false;
        };
        self.connection.execute_batch("BEGIN").unwrap();
        changing(&self.connection, |tables| self.keys.apply(tables, &step)).unwrap();
        if commits {
            self.commits()
        } else {
            self.rolls_back()
        }
        true
    }

    fn merges_all(&mut self) {
        while self.takes_step(true) {}
    }

    fn expires(&mut self, before: i64) -> bool {
        self.connection.execute_batch("BEGIN").unwrap();
        let first = MessageId::first_at(Day::new(before).start());
        let expired = changing(&self.connection, |tables| self.keys.expire(tables, first));
        self.commits();
        expired
    }

    fn finds(&self, key: u64) -> Option<Duplicate> {
        self.keys.find(&tables(&self.connection), &claim(key)).unwrap()
    }

    fn finds_message(&self, key: u64) -> Option<MessageId> {
        self.finds(key).map(|replay| replay.message)
    }

    fn count(&self, query: &str) -> i64 {
        self.connection.query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Counts new keys for which a block was read: without blocks, such a read fails.
    fn reads_for_new_keys(&self, keys: std::ops::Range<u64>) -> usize {
        self.connection.execute_batch("BEGIN; DELETE FROM key_block").unwrap();
        let fails = |key: &u64| self.keys.find(&tables(&self.connection), &claim(*key)).is_err();
        let reads = keys.filter(fails).count();
        self.connection.execute_batch("ROLLBACK").unwrap();
        reads
    }
}

fn tables(connection: &Connection) -> Tables<'_> {
    SqlTables::of(connection)
}

/// Spreads numbers like a digest.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn claim(key: u64) -> KeyClaim {
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&mixed(key + 1).to_be_bytes());
    digest[8..].copy_from_slice(&mixed(!key).to_be_bytes());
    KeyClaim { digest, fingerprint: key }
}

#[test]
fn key_used_twice_in_one_batch_makes_one_message() {
    let mut world = World::new(SMALL);
    let messages = world.sends(&[1, 2, 1, 1], MONDAY);
    assert_eq!((messages[2], messages[3]), (messages[0], messages[0]));
    assert_ne!(messages[1], messages[0]);
    assert_eq!(world.sends(&[1], MONDAY), [messages[0]]);
}

#[test]
fn key_used_on_an_earlier_day_is_found_after_a_restart() {
    let mut world = World::new(SMALL);
    let first = world.sends(&[1], MONDAY);
    for day in [MONDAY, MONDAY + 1, MONDAY + 300] {
        assert_eq!(world.sends(&[1], day), first, "day {day}");
        world.restarts();
    }
}

#[test]
fn duplicate_key_with_another_request_is_reported_as_such() {
    let mut world = World::new(SMALL);
    // In memory, then in a bucket.
    for fill in [1..2, 100..200] {
        let keys: Vec<u64> = fill.collect();
        let message = world.sends(&keys, MONDAY)[0];
        let KeyClaim { digest, .. } = claim(keys[0]);
        // The highest bit survives the signed column.
        let other = KeyClaim { digest, fingerprint: u64::MAX };
        let found = world.keys.find(&tables(&world.connection), &other).unwrap();
        assert_eq!(found, Some(Duplicate { message, is_same_request: false }));
        assert_eq!(world.finds(keys[0]), Some(Duplicate { message, is_same_request: true }));
    }
    assert_eq!(world.count("SELECT count(*) FROM key_bucket"), 1);
}

#[test]
fn keys_claimed_by_a_batch_that_is_rolled_back_are_free() {
    let mut world = World::new(SMALL);
    let kept = world.sends(&[1, 2], MONDAY);
    // With a seal and without.
    for keys in [vec![3], (10..100).collect()] {
        world.tries_to_send(&keys, MONDAY);
        world.rolls_back();
        assert!(keys.iter().all(|key| world.finds(*key).is_none()));
        assert_eq!([world.finds_message(1), world.finds_message(2)], [Some(kept[0]), Some(kept[1])]);
    }
    world.sends(&(10..100).collect::<Vec<_>>(), MONDAY);
    assert_eq!(world.count("SELECT count(*) FROM key_log"), 0);
    world.restarts();
    assert_eq!([world.finds_message(1), world.finds_message(2)], [Some(kept[0]), Some(kept[1])]);
}

#[test]
fn new_keys_are_recognised_without_a_read_after_many_days() {
    let mut world = World::new(SMALL);
    for day in 0..100 {
        world.sends(&(day * 100..(day + 1) * 100).collect::<Vec<_>>(), MONDAY + i64::try_from(day).unwrap());
    }
    world.merges_all();
    let buckets = world.count("SELECT count(*) FROM key_bucket");
    assert!(buckets <= 12, "{buckets} of 100 seals");
    let reads = world.reads_for_new_keys(20_000..30_000);
    assert!(reads < 10_000 / 15, "{reads} of 10,000");
    assert!((0..10_000).all(|key| world.finds(key).is_some()));
    // The same after a start, which reads the filters.
    world.restarts();
    assert_eq!(world.reads_for_new_keys(20_000..30_000), reads);
}

#[test]
fn buckets_beyond_the_memory_of_filters_are_read() {
    let mut world = World::new(KeyLimits { filter_bytes: 0, ..SMALL });
    let keys: Vec<u64> = (0..500).collect();
    let messages = world.sends(&keys, MONDAY);
    for _ in 0..2 {
        assert!((0..).zip(&messages).all(|(key, message)| world.finds_message(key) == Some(*message)));
        assert!(world.finds(1_000).is_none());
        assert_eq!(world.reads_for_new_keys(1_000..1_100), 100);
        world.restarts();
    }
}

#[test]
fn key_used_after_its_retention_is_a_new_message() {
    let mut world = World::new(SMALL);
    let first = world.sends(&(0..60).collect::<Vec<_>>(), MONDAY);
    let second = world.sends(&[100], MONDAY + 1);
    assert!(!world.expires(MONDAY), "nothing is that old");
    assert!(world.expires(MONDAY + 1));
    assert!(!world.expires(MONDAY + 1), "once is enough");
    assert_eq!((world.finds(0), world.finds_message(100)), (None, Some(second[0])));
    let again = world.sends(&[0], MONDAY + 2)[0];
    assert_ne!(again, first[0]);
    assert!(world.expires(MONDAY + 2));
    world.merges_all();
    assert_eq!(world.count("SELECT count(*) FROM key_bucket"), 0, "a bucket without a valid key is dropped");
    world.restarts();
    assert_eq!((world.finds_message(0), world.finds(100), world.finds(1)), (Some(again), None, None));
    assert_eq!(world.count("SELECT count(*) FROM key_log"), 1, "rows without a valid key are deleted");
}

#[test]
fn keys_are_valid_although_the_clock_was_ahead_when_others_expired() {
    let mut world = World::new(SMALL);
    world.sends(&[1], MONDAY);
    assert!(world.expires(MONDAY + 500));
    assert_eq!(world.finds(1), None);
    let message = world.sends(&[2], MONDAY + 1)[0];
    world.restarts();
    assert_eq!(world.finds_message(2), Some(message));
}

#[test]
fn bucket_with_half_of_its_keys_expired_is_rewritten() {
    let mut world = World::new(SMALL);
    for day in 0..40 {
        world.sends(&(day * 60..(day + 1) * 60).collect::<Vec<_>>(), MONDAY + i64::try_from(day).unwrap());
    }
    world.merges_all();
    let before = world.count("SELECT sum(keys) FROM key_bucket");
    world.expires(MONDAY + 30);
    world.merges_all();
    let after = world.count("SELECT sum(keys) FROM key_bucket");
    assert!(before == 2_400 && after < 1_000, "{before}, {after}");
    assert!((0..1_800).all(|key| world.finds(key).is_none()));
    assert!((1_800..2_400).all(|key| world.finds(key).is_some()));
}

#[test]
fn step_applied_twice_changes_nothing_more() {
    let mut world = World::new(SMALL);
    for round in 0..8 {
        world.sends(&(round * 60..(round + 1) * 60).collect::<Vec<_>>(), MONDAY);
    }
    while let Some(step) = next_step(&SqlTables { connection: &world.connection }, SMALL).unwrap() {
        for _ in 0..2 {
            changing(&world.connection, |tables| world.keys.apply(tables, &step)).unwrap();
            world.keys.committed();
        }
        assert!((0..480).all(|key| world.finds(key).is_some()), "{step:?}");
    }
    let live = SqlTables { connection: &world.connection }.key_buckets().unwrap();
    assert!(live.iter().all(|row| row.state == KeyBucketState::Live));
}

/// Any order of sends, repeats, merge steps, rollbacks, restarts and expiries: every valid key is found, no other is.
#[test]
fn every_key_of_every_age_is_found_through_any_history() {
    for seed in 0..6 {
        any_history(seed);
    }
}

fn any_history(seed: u64) {
    let filter_bytes = if seed.is_multiple_of(3) { 4_096 } else { 1 << 20 };
    let mut world = World::new(KeyLimits { sealed_keys: 40, filter_bytes });
    let mut state = seed;
    let mut chance = |below: u64| {
        state += 1;
        mixed(state.wrapping_mul(0x9E37_79B9_7F4A_7C15)) % below
    };
    let mut used: BTreeMap<u64, MessageId> = BTreeMap::new();
    let (mut day, mut valid_from, mut next_key) = (MONDAY, MONDAY, 0);
    for _ in 0..1_500 {
        match chance(20) {
            0..8 => {
                let keys: Vec<u64> = (0..chance(40)).map(|_| chance(next_key + 20)).collect();
                next_key = keys.iter().max().map_or(next_key, |key| next_key.max(key + 1));
                let messages = world.tries_to_send(&keys, day);
                if chance(8) == 0 {
                    world.rolls_back();
                    continue;
                }
                world.commits();
                for (key, message) in keys.iter().zip(messages) {
                    let first = used.entry(*key).or_insert(message);
                    assert_eq!(*first, message, "seed {seed}, key {key}");
                }
            }
            8..16 => drop(world.takes_step(chance(6) > 0)),
            16 => day += i64::try_from(chance(3)).unwrap(),
            17 => world.restarts(),
            18 if chance(4) == 0 => world.merges_all(),
            _ if chance(10) == 0 => {
                valid_from = valid_from.max(day - i64::try_from(chance(40)).unwrap());
                world.expires(valid_from);
                let first = MessageId::first_at(Day::new(valid_from).start());
                used.retain(|_, message| *message >= first);
            }
            _ => {
                let key = chance(next_key + 20);
                assert_eq!(world.finds_message(key), used.get(&key).copied(), "seed {seed}, key {key}");
            }
        }
    }
    for restarted in [false, true] {
        for key in 0..next_key + 20 {
            let found = world.finds_message(key);
            assert_eq!(found, used.get(&key).copied(), "seed {seed}, key {key}, restarted {restarted}");
        }
        world.merges_all();
        world.restarts();
    }
}
