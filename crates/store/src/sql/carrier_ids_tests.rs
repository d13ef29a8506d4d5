//! Tests of matching carrier ids in receipts to ids in responses: spelling, conversion, reuse, and several days.

use crate::sql::Connection;
use crate::sql::changing;
use crate::sql::{SqlTables, carrier_ids};
use crate::sqlite::schema;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, MessageId, PartNo};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::CarrierIdQuery;
use hermod_engine::state::carrier_id_days::{Assigned, DAYS_KEPT, Match};
use hermod_engine::state::carrier_ids::CarrierIdIndex;
use hermod_engine::tables::{IdAssignment, PartKey, Tables};
use std::time::Duration;
use tempfile::TempDir;

const ACME: CarrierId = CarrierId::new(1);
const OTHER: CarrierId = CarrierId::new(2);
const TODAY: Day = Day::new(20_771);

struct World {
    connection: Connection,
    remotes: CarrierIdIndex,
    ids: IdConversion,
    _folder: TempDir,
}

impl World {
    fn new() -> World {
        World::with_ids(IdConversion::None)
    }

    fn with_ids(ids: IdConversion) -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let remotes = CarrierIdIndex::load(&tables(&connection)).unwrap();
        World { connection, remotes, ids, _folder: folder }
    }

    fn assign(&mut self, remote: &str, message: i64, now: Timestamp) -> Assigned {
        self.assign_to(remote, message, now, number(message.unsigned_abs()))
    }

    fn assign_to(&mut self, remote: &str, message: i64, now: Timestamp, to: Msisdn) -> Assigned {
        self.assign_of(AccountId::new(7), remote, message, now, to)
    }

    fn assign_of(
        &mut self,
        account: AccountId,
        remote: &str,
        message: i64,
        now: Timestamp,
        to: Msisdn,
    ) -> Assigned {
        let message = MessageId::from_i64(message).unwrap();
        let part = PartKey { account, message, part: PartNo::FIRST };
        let assignment = IdAssignment { part, to: Some(to), at: now, day: now.day() };
        changing(&self.connection, |tables| self.remotes.assign(tables, ACME, &id(remote), assignment))
            .unwrap()
    }

    /// Asserts that the memory and the tables give the same result.
    #[track_caller]
    fn finds(&self, remote: &str, source: Option<u64>, expect: &str) {
        let cold = CarrierIdIndex::load(&tables(&self.connection)).unwrap();
        for (remotes, how) in [(&self.remotes, "in memory"), (&cold, "from the tables")] {
            let asked = CarrierIdQuery {
                carrier: ACME,
                ids: self.ids,
                remote: &id(remote),
                source: source.map(number),
            };
            let found = match remotes.find(&tables(&self.connection), &asked).unwrap() {
                Match::Part(tie) => tie.part.message.as_i64().to_string(),
                Match::Nothing => "nothing".to_owned(),
                Match::Ambiguous => "ambiguous".to_owned(),
            };
            assert_eq!(found, expect, "{remote} {how}");
        }
    }
}

fn tables(connection: &Connection) -> Tables<'_> {
    SqlTables::of(connection)
}

fn id(text: &str) -> RemoteId {
    RemoteId::from_text(text).unwrap()
}

/// Returns a different recipient for each message.
fn number(message: u64) -> Msisdn {
    Msisdn::from_number(491_510_000_000 + message).unwrap()
}

fn noon() -> Timestamp {
    TODAY.start().plus(Duration::from_secs(12 * 3600))
}

fn days_later(days: i64) -> Timestamp {
    Day::new(TODAY.get() + days).start().plus(Duration::from_secs(12 * 3600))
}

#[test]
fn receipt_is_matched_by_the_id_of_the_response() {
    let mut world = World::new();
    world.finds("a", None, "nothing");
    assert_eq!(world.assign("a", 5, noon()), Assigned::New);
    world.finds("a", None, "5");
    let remote = id("a");
    let elsewhere = CarrierIdQuery { carrier: OTHER, ids: IdConversion::None, remote: &remote, source: None };
    let found = world.remotes.find(&tables(&world.connection), &elsewhere).unwrap();
    assert_eq!(found, Match::Nothing, "ids of different carriers are independent");
}

#[test]
fn match_returns_recipient_time_and_day_of_the_response() {
    let mut world = World::new();
    world.assign("0aB", 5, noon());
    let remote = id("0aB");
    let asked = CarrierIdQuery { carrier: ACME, ids: IdConversion::None, remote: &remote, source: None };
    let in_memory = world.remotes.find(&tables(&world.connection), &asked).unwrap();
    let Match::Part(tie) = in_memory else { panic!("{in_memory:?}") };
    assert_eq!((tie.to, tie.at, tie.day), (Some(number(5)), noon(), TODAY));
    let cold = CarrierIdIndex::load(&tables(&world.connection))
        .unwrap()
        .find(&tables(&world.connection), &asked)
        .unwrap();
    assert_eq!(cold, in_memory);
}

#[test]
fn exact_id_is_preferred_to_one_with_other_capitals_or_zeros() {
    let mut world = World::new();
    world.assign("00a1", 1, noon());
    world.finds("a1", None, "1");
    world.finds("00A1", None, "1");
    world.assign("A1", 2, noon());
    world.finds("A1", None, "2");
    world.finds("00a1", None, "1");
    world.assign("\u{ff}", 3, noon());
    world.finds("\u{ff}", None, "3");
    world.finds("0\u{ff}", None, "3");
}

#[test]
fn several_candidates_are_resolved_by_recipient_or_stay_ambiguous() {
    let mut world = World::new();
    world.assign("a1", 1, noon());
    world.assign("0a1", 2, noon());
    world.finds("A1", None, "ambiguous");
    world.finds("A1", Some(1), "1");
    world.finds("A1", Some(2), "2");
    world.finds("A1", Some(3), "ambiguous");
    world.finds("0a1", Some(1), "2");
    // The same over several days.
    let mut world = World::new();
    world.assign("a1", 1, noon());
    world.assign("0a1", 2, days_later(2));
    world.finds("A1", None, "ambiguous");
    world.finds("A1", Some(1), "1");
    // Two ids of one part are one part.
    let mut world = World::new();
    world.assign("a1", 1, noon());
    world.assign("0a1", 1, noon());
    world.finds("A1", None, "1");
}

#[test]
fn hexadecimal_and_decimal_ids_are_converted_in_both_directions() {
    for (ids, answer, receipt) in [
        (IdConversion::HexToDecimal, "812FC7470000001B", "9308878062554710043"),
        (IdConversion::HexToDecimal, "812fc7470000001b", "09308878062554710043"),
        (IdConversion::DecimalToHex, "9308878062554710043", "812fc7470000001b"),
    ] {
        let mut world = World::with_ids(ids);
        world.assign(answer, 1, noon());
        for source in [None, Some(1), Some(2)] {
            world.finds(receipt, source, "1");
        }
        world.finds(answer, None, "1");
        world.ids = IdConversion::None;
        world.finds(receipt, Some(1), "nothing");
    }
}

#[test]
fn unconverted_id_is_preferred_to_a_converted_one() {
    let mut world = World::with_ids(IdConversion::HexToDecimal);
    world.assign("1B", 1, noon());
    world.assign("27", 2, noon());
    world.finds("27", None, "2");
    world.finds("27", Some(2), "2");
    world.finds("39", None, "2");
    world.finds("1b", None, "1");
}

#[test]
fn converted_id_of_several_parts_is_resolved_by_recipient() {
    let mut world = World::with_ids(IdConversion::HexToDecimal);
    world.assign("1b", 1, noon());
    world.assign("01B", 2, noon());
    world.finds("27", None, "ambiguous");
    world.finds("27", Some(1), "1");
    world.finds("27", Some(2), "2");
    // The same id on another day matches the newer part, unless the recipient is the older one's.
    let mut world = World::with_ids(IdConversion::HexToDecimal);
    world.assign("1b", 1, noon());
    world.assign("1b", 2, days_later(1));
    world.finds("27", None, "2");
    world.finds("27", Some(1), "1");
}

#[test]
fn id_of_another_part_counts_as_reused_but_a_repeated_response_does_not() {
    let mut world = World::new();
    assert_eq!(world.assign("a", 5, noon()), Assigned::New);
    assert_eq!(world.assign("a", 5, noon()), Assigned::New);
    assert_eq!(world.assign("a", 6, noon()), Assigned::Reused);
    world.finds("a", None, "6");
    assert_eq!(world.assign("A", 7, noon()), Assigned::New, "written differently");
    world.finds("a", None, "6");
}

#[test]
fn id_reused_on_a_later_day_matches_the_newer_part_unless_the_recipient_is_the_older_ones() {
    let mut world = World::new();
    world.assign("a", 5, noon());
    assert_eq!(world.assign("a", 6, days_later(1)), Assigned::New);
    world.finds("a", None, "6");
    world.finds("a", Some(6), "6");
    world.finds("a", Some(5), "5");
    world.finds("a", Some(7), "ambiguous");
}

#[test]
fn id_of_two_accounts_is_matched_by_number_only() {
    for (later, without_number) in [(0, "ambiguous"), (1, "ambiguous"), (2, "6")] {
        let mut world = World::new();
        world.assign("a", 5, noon());
        world.assign_of(AccountId::new(8), "a", 6, days_later(later), number(6));
        for (source, expect) in
            [(None, without_number), (Some(5), "5"), (Some(6), "6"), (Some(7), "ambiguous")]
        {
            world.finds("a", source, expect);
        }
        // The same recipient does not decide, unless the older id is of an earlier day.
        world.assign_of(AccountId::new(8), "b", 7, noon(), number(7));
        world.assign_to("b", 8, days_later(later), number(7));
        world.finds("b", Some(7), if later == 0 { "ambiguous" } else { "8" });
    }
}

#[test]
fn id_of_very_many_parts_is_ambiguous() {
    let mut world = World::new();
    for message in 1..=100 {
        world.assign("0", message, noon());
    }
    world.finds("0", None, "ambiguous");
    assert_eq!(world.assign("0", 100, noon()), Assigned::Reused, "beyond the limit it is not known");
}

#[test]
fn recipient_in_national_format_does_not_contradict() {
    let mut world = World::new();
    let to = Msisdn::from_number(4_915_112_345_678).unwrap();
    world.assign_to("a", 5, noon(), to);
    world.assign_to("a", 6, days_later(1), to);
    let national = Msisdn::from_number(15_112_345_678).unwrap();
    let remote = id("a");
    let asked =
        CarrierIdQuery { carrier: ACME, ids: IdConversion::None, remote: &remote, source: Some(national) };
    let Match::Part(tie) = world.remotes.find(&tables(&world.connection), &asked).unwrap() else {
        panic!("a part")
    };
    assert_eq!(tie.part.message.as_i64(), 6);
}

#[test]
fn expired_day_is_retired_at_once_and_deleted_in_steps() {
    let mut world = World::new();
    for number in 0..5 {
        world.assign(&format!("old{number}"), 10 + number, noon());
    }
    world.assign("new", 2, days_later(DAYS_KEPT));
    let after = |days| Day::new(TODAY.get() + days);
    let step = |world: &mut World, today| {
        changing(&world.connection, |tables| world.remotes.purge_days(tables, today, 2)).unwrap()
    };
    let left = |world: &World| -> i64 {
        let query = format!("SELECT count(*) FROM retired_remote_{}", TODAY.get());
        world.connection.query_row(&query, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(step(&mut world, after(DAYS_KEPT)), 0, "to the day");
    world.finds("old4", None, "14");
    let today = after(DAYS_KEPT + 1);
    for (done, expect) in [(1, 5), (2, 3), (2, 1)] {
        assert_eq!(step(&mut world, today), done);
        assert_eq!(left(&world), expect);
        // In memory and after a restart.
        (0..5).for_each(|number| world.finds(&format!("old{number}"), None, "nothing"));
        world.finds("new", None, "2");
    }
    // The process ends between two steps.
    world.remotes = CarrierIdIndex::load(&tables(&world.connection)).unwrap();
    assert_eq!((step(&mut world, today), step(&mut world, today)), (1, 0));
    let retired = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'retired*'";
    assert_eq!(world.connection.query_row(retired, [], |row| row.get::<i64>(0)).unwrap(), 0);
    assert_eq!(carrier_ids::carrier_id_days(&world.connection).unwrap(), [after(DAYS_KEPT)]);
}

#[test]
fn day_that_returns_during_its_deletion_is_deleted_afterwards() {
    let mut world = World::new();
    let today = Day::new(TODAY.get() + DAYS_KEPT + 1);
    let step = |world: &mut World| {
        changing(&world.connection, |tables| world.remotes.purge_days(tables, today, 2)).unwrap()
    };
    world.assign("old", 1, noon());
    assert_eq!(step(&mut world), 1);
    world.assign("again", 2, noon());
    world.finds("again", None, "2");
    assert_eq!(step(&mut world), 1);
    world.finds("again", None, "2");
    assert_eq!(step(&mut world), 1);
    world.finds("again", None, "nothing");
    assert_eq!((step(&mut world), step(&mut world)), (1, 0));
}

#[test]
fn sample_returns_ids_as_the_carrier_wrote_them() {
    let mut world = World::new();
    world.assign("yesterday", 1, noon());
    for (count, remote) in ["00a1", "77", "A3"].into_iter().enumerate() {
        let later = days_later(1).plus(Duration::from_secs(u64::try_from(count).unwrap()));
        world.assign(remote, 2, later);
    }
    let sample = carrier_ids::sample(&world.connection, ACME, 2).unwrap();
    let shown: Vec<String> = sample.iter().map(|tied| tied.remote.to_text()).collect();
    assert_eq!(shown, ["A3", "77"]);
    assert!(carrier_ids::sample(&world.connection, OTHER, 2).unwrap().is_empty());
}

#[test]
fn id_reused_on_the_day_of_a_restart_is_detected() {
    let mut world = World::new();
    world.assign("0aB", 5, noon());
    world.assign("b", 6, noon());
    world.remotes = CarrierIdIndex::load(&tables(&world.connection)).unwrap();
    assert_eq!(world.assign("0aB", 7, noon()), Assigned::Reused);
    assert_eq!(world.assign("b", 6, noon()), Assigned::New, "the same part again");
    // An earlier day has no filter after a restart: its table is read.
    assert_eq!(world.assign("c", 8, days_later(1)), Assigned::New);
    world.remotes = CarrierIdIndex::load(&tables(&world.connection)).unwrap();
    assert_eq!(world.assign("b", 9, noon()), Assigned::Reused);
    assert_eq!(world.assign("d", 10, noon()), Assigned::New);
    world.finds("0aB", None, "7");
}

#[test]
fn rollback_removes_the_ids_and_days_of_its_batch() {
    let mut world = World::new();
    world.assign("a", 1, noon());
    world.connection.execute_batch("BEGIN").unwrap();
    world.assign("b", 2, noon());
    world.assign("c", 3, days_later(1));
    world.connection.execute_batch("ROLLBACK").unwrap();
    world.remotes.rolled_back(&tables(&world.connection)).unwrap();
    world.finds("b", None, "nothing");
    assert_eq!(world.assign("b", 4, noon()), Assigned::New);
    assert_eq!(world.assign("c", 5, days_later(1)), Assigned::New);
    assert_eq!(world.assign("a", 6, noon()), Assigned::Reused);
    world.finds("c", None, "5");
}
