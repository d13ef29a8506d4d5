//! Tests of when delivery figures are written, and that a rollback does not change them.

use crate::sql::Connection;
use crate::sql::changing;
use crate::sql::delivery_figures::delivery_rows;
use crate::sqlite::schema;
use hermod_domain::ids::CarrierId;
use hermod_domain::ids::{AccountId, MessageId, PartNo};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::DeliveryRow;
use hermod_engine::ops::{DELIVERY_DAYS_KEPT, DeliveryFigures};
use hermod_engine::state::delivery_figures::*;
use hermod_engine::tables::{IdAssignment, PartKey};
use tempfile::TempDir;

const ACME: CarrierId = CarrierId::new(1);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn german() -> Msisdn {
    Msisdn::from_number(4_915_112_345_678).unwrap()
}

fn tie(to: Msisdn, tied_at: i64) -> IdAssignment {
    let message = MessageId::from_i64(1).unwrap();
    let part = PartKey { account: AccountId::new(1), message, part: PartNo::FIRST };
    IdAssignment { part, to: Some(to), at: at(tied_at), day: Day::new(0) }
}

struct World {
    connection: Connection,
    stats: DeliveryStats,
    _folder: TempDir,
}

impl World {
    fn new() -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        World { connection, stats: DeliveryStats::default(), _folder: folder }
    }

    fn rows(&self) -> Vec<DeliveryRow> {
        delivery_rows(&self.connection, Day::new(0), Day::new(99_999), None).unwrap()
    }
}

#[test]
fn figures_are_collected_and_written_together_when_due() {
    let mut world = World::new();
    assert_eq!(world.stats.due_at(), None);
    world.stats.sent(ACME, german(), Day::new(0));
    world.stats.settled(ACME, &tie(german(), 1), DeliveryOutcome::Enroute, at(5));
    world.stats.committed(at(1_000));
    assert_eq!(world.stats.due_at(), Some(at(11_000)));
    world.stats.settled(ACME, &tie(german(), 1), DeliveryOutcome::Delivered, at(2_001));
    changing(&world.connection, |tables| world.stats.write_if_due(tables, at(10_999))).unwrap();
    world.stats.committed(at(10_999));
    assert!(world.rows().is_empty(), "not yet");
    changing(&world.connection, |tables| world.stats.write_if_due(tables, at(11_000))).unwrap();
    world.stats.committed(at(11_000));
    assert!(world.stats.is_empty());
    assert_eq!(world.stats.due_at(), None);
    let row = world.rows()[0];
    assert_eq!((row.day, row.carrier), (Day::new(0), ACME));
    assert_eq!(row.country.map(|country| country.to_string()), Some("DE".to_owned()));
    let figures = DeliveryFigures {
        sent: 1,
        delivered: 1,
        times: [1, 0, 0, 0, 0, 0],
        time_ms: 2_000,
        ..Default::default()
    };
    assert_eq!(row.figures, figures);
    // Later ones are added.
    world.stats.sent(ACME, german(), Day::new(0));
    world.stats.committed(at(12_000));
    changing(&world.connection, |tables| world.stats.write(tables)).unwrap();
    assert_eq!(world.rows()[0].figures, DeliveryFigures { sent: 2, ..figures });
}

#[test]
fn rolled_back_batch_is_not_counted_and_loses_no_earlier_figures() {
    let mut world = World::new();
    world.stats.sent(ACME, german(), Day::new(0));
    world.stats.committed(at(0));
    world.stats.sent(ACME, german(), Day::new(0));
    world.connection.execute_batch("BEGIN").unwrap();
    changing(&world.connection, |tables| world.stats.write_if_due(tables, at(20_000))).unwrap();
    world.connection.execute_batch("ROLLBACK").unwrap();
    world.stats.rolled_back();
    assert_eq!(world.stats.due_at(), Some(at(10_000)));
    changing(&world.connection, |tables| world.stats.write(tables)).unwrap();
    assert_eq!(world.rows()[0].figures.sent, 1);
}

#[test]
fn delivery_times_fall_into_their_ranges() {
    let mut world = World::new();
    let seconds = [0, 5, 6, 15, 16, 60, 61, 300, 301, 3_600, 3_601, 90_000];
    for second in seconds {
        world.stats.settled(ACME, &tie(german(), 1), DeliveryOutcome::Delivered, at(1 + second * 1_000));
    }
    // One receipt came before its response.
    world.stats.settled(ACME, &tie(german(), 5_000), DeliveryOutcome::Delivered, at(4_000));
    world.stats.committed(at(1));
    changing(&world.connection, |tables| world.stats.write(tables)).unwrap();
    let figures = world.rows()[0].figures;
    assert_eq!(figures.times, [3, 2, 2, 2, 2, 2]);
    assert_eq!((figures.delivered, figures.time_ms), (13, 97_965_000));
}

#[test]
fn each_final_state_is_counted_in_its_column_per_network() {
    let mut world = World::new();
    let american = Msisdn::from_number(12_125_550_123).unwrap();
    let unassigned_range = Msisdn::from_number(999_000_000_000_000).unwrap();
    for verdict in [
        DeliveryOutcome::Undeliverable,
        DeliveryOutcome::Expired,
        DeliveryOutcome::Rejected,
        DeliveryOutcome::NoChange,
    ] {
        world.stats.settled(ACME, &tie(german(), 1), verdict, at(5));
    }
    world.stats.sent(ACME, american, Day::new(1));
    world.stats.sent(CarrierId::new(2), unassigned_range, Day::new(1));
    world.stats.committed(at(1));
    changing(&world.connection, |tables| world.stats.write(tables)).unwrap();
    let rows = world.rows();
    let countries: Vec<_> =
        rows.iter().map(|row| row.country.map(|country| country.to_string()).unwrap_or_default()).collect();
    assert_eq!(countries, ["US", "", "DE"], "the newest day first");
    let figures = DeliveryFigures { failed: 1, expired: 1, rejected: 1, ..Default::default() };
    assert_eq!(rows[2].figures, figures);
    let of_acme = delivery_rows(&world.connection, Day::new(1), Day::new(1), Some(ACME)).unwrap();
    assert_eq!(of_acme, rows[..1]);
}

#[test]
fn figures_beyond_the_limit_are_written_at_once_and_old_days_deleted() {
    let mut world = World::new();
    for day in 0..=i64::try_from(CELLS_MAX).unwrap() {
        world.stats.sent(ACME, german(), Day::new(day));
    }
    world.stats.committed(at(77));
    assert_eq!(world.stats.due_at(), Some(at(77)));
    changing(&world.connection, |tables| world.stats.write_if_due(tables, at(77))).unwrap();
    world.stats.committed(at(77));
    assert!(world.stats.is_empty());
    changing(&world.connection, |tables| drop_before(tables, Day::new(20_000)));
    assert_eq!(world.rows().last().map(|row| row.day), Some(Day::new(20_000 - DELIVERY_DAYS_KEPT)));
}
