//! Tests of which receipts stay parked, how many, and for how long.

use crate::sql::Connection;
use crate::sql::SqlTables;
use crate::sql::changing;
use crate::sqlite::schema;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::ParkedReceipt;
use hermod_engine::state::parked_receipts::*;
use hermod_engine::tables::Tables;
use tempfile::TempDir;

const ACME: CarrierId = CarrierId::new(1);
const OTHER: CarrierId = CarrierId::new(2);

struct World {
    connection: Connection,
    parked: Parked,
    _folder: TempDir,
}

impl World {
    fn with_limit(limit: u64) -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let parked = Parked::load_limited(&tables(&connection), limit).unwrap();
        World { connection, parked, _folder: folder }
    }

    fn parks(&mut self, carrier: CarrierId, remote: &str, verdict: DeliveryOutcome, at: i64) -> u64 {
        changing(&self.connection, |tables| self.parked.park(tables, carrier, &receipt(remote, verdict, at)))
            .unwrap()
    }

    fn has(&self, carrier: CarrierId) -> Vec<String> {
        let mut kept =
            tables(&self.connection).read().unwrap().parked_receipts_after(carrier, None, 1_000).unwrap();
        kept.sort_by_key(|receipt| receipt.at);
        let shown: Vec<String> =
            kept.iter().map(|receipt| format!("{} {:?}", receipt.remote, receipt.verdict)).collect();
        let count = u64::try_from(shown.len()).unwrap();
        assert_eq!(self.parked.count(carrier), count);
        assert_eq!(Parked::load(&tables(&self.connection)).unwrap().count(carrier), count);
        shown
    }

    fn losses(&self) -> Vec<(i64, u32, i64, i64)> {
        let sql = "SELECT day, carrier, too_old, crowded_out FROM receipt_loss ORDER BY day, carrier";
        let mut statement = self.connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }
}

fn tables(connection: &Connection) -> Tables<'_> {
    SqlTables::of(connection)
}

fn id(text: &str) -> RemoteId {
    RemoteId::from_text(text).unwrap()
}

fn receipt(remote: &str, verdict: DeliveryOutcome, at: i64) -> ParkedReceipt {
    ParkedReceipt {
        remote: id(remote),
        verdict,
        err: 12,
        word: Some("ODD".into()),
        source: Msisdn::from_number(4_915_112_345_678),
        at: Timestamp::from_millis(at),
        ambiguous: false,
    }
}

#[test]
fn parked_receipt_is_read_back_unchanged() {
    let mut world = World::with_limit(10);
    for (remote, ambiguous) in [("00aB", false), ("77", true), ("\u{0}", false)] {
        let kept = ParkedReceipt { ambiguous, ..receipt(remote, DeliveryOutcome::Delivered, 5) };
        changing(&world.connection, |tables| world.parked.park(tables, ACME, &kept)).unwrap();
        assert_eq!(
            tables(&world.connection).read().unwrap().parked_receipt(ACME, &kept.remote).unwrap(),
            Some(kept)
        );
    }
    let bare = ParkedReceipt { word: None, source: None, ..receipt("bare", DeliveryOutcome::NoChange, 6) };
    changing(&world.connection, |tables| world.parked.park(tables, ACME, &bare)).unwrap();
    assert_eq!(
        tables(&world.connection).read().unwrap().parked_receipt(ACME, &bare.remote).unwrap(),
        Some(bare)
    );
    assert_eq!(tables(&world.connection).read().unwrap().parked_receipt(OTHER, &id("77")).unwrap(), None);
    assert_eq!(
        world.parked.under(&tables(&world.connection), ACME, &RemoteKey::of(&id("AB"))).unwrap().len(),
        1
    );
}

#[test]
fn first_final_receipt_of_an_id_stays_parked() {
    use DeliveryOutcome::{Delivered, Enroute, Expired, NoChange, Rejected, Undeliverable};
    for (said, stays) in [
        (&[Enroute, Delivered][..], Delivered),
        (&[NoChange, Enroute], Enroute),
        (&[Enroute, NoChange], Enroute),
        (&[NoChange, Undeliverable, Enroute], Undeliverable),
        (&[Delivered, Undeliverable], Delivered),
        (&[Rejected, Delivered], Rejected),
        (&[Expired, Enroute, NoChange], Expired),
    ] {
        let mut world = World::with_limit(10);
        for (at, verdict) in (1..).zip(said) {
            world.parks(ACME, "a", *verdict, at);
        }
        assert_eq!(world.has(ACME), [format!("a {stays:?}")], "{said:?}");
    }
}

#[test]
fn receipts_beyond_the_limit_push_out_the_oldest_and_are_counted() {
    let mut world = World::with_limit(2);
    world.parks(OTHER, "x", DeliveryOutcome::Delivered, 1);
    let gone: Vec<u64> =
        (1..=4).map(|at| world.parks(ACME, &at.to_string(), DeliveryOutcome::Delivered, at)).collect();
    assert_eq!(gone, [0, 0, 1, 1]);
    assert_eq!(world.has(ACME), ["3 Delivered", "4 Delivered"]);
    assert_eq!(world.parks(ACME, "3", DeliveryOutcome::Undeliverable, 9), 0, "it is parked already");
    assert_eq!(world.has(OTHER), ["x Delivered"]);
    assert_eq!(world.losses(), [(0, 1, 0, 2)]);
}

#[test]
fn receipt_parked_for_three_days_is_given_up_and_counted() {
    let mut world = World::with_limit(10);
    let day = 86_400_000;
    for (carrier, remote, at) in [(ACME, "a", 1), (ACME, "b", day), (OTHER, "c", 2)] {
        world.parks(carrier, remote, DeliveryOutcome::Delivered, at);
    }
    let now = |ms| Timestamp::from_millis(ms);
    assert_eq!(
        changing(&world.connection, |tables| world.parked.give_up_old(tables, now(3 * day + 1))).unwrap(),
        0
    );
    assert_eq!(
        changing(&world.connection, |tables| world.parked.give_up_old(tables, now(3 * day + 3))).unwrap(),
        2
    );
    assert_eq!(world.has(ACME), ["b Delivered"]);
    assert!(world.has(OTHER).is_empty());
    assert_eq!(world.losses(), [(3, 1, 1, 0), (3, 2, 1, 0)]);
}

#[test]
fn rollback_restores_the_counts() {
    let mut world = World::with_limit(10);
    world.parks(ACME, "a", DeliveryOutcome::Delivered, 1);
    world.parked.committed();
    world.connection.execute_batch("BEGIN").unwrap();
    world.parks(ACME, "b", DeliveryOutcome::Delivered, 1);
    world.parks(OTHER, "b", DeliveryOutcome::Delivered, 1);
    changing(&world.connection, |tables| world.parked.remove(tables, ACME, &id("a"))).unwrap();
    changing(&world.connection, |tables| world.parked.remove(tables, ACME, &id("b"))).unwrap();
    changing(&world.connection, |tables| world.parked.remove(tables, ACME, &id("unknown"))).unwrap();
    assert_eq!(world.parked.count(ACME), 0);
    world.connection.execute_batch("ROLLBACK").unwrap();
    world.parked.rolled_back();
    assert_eq!(world.has(ACME), ["a Delivered"]);
    assert!(world.has(OTHER).is_empty());
}
