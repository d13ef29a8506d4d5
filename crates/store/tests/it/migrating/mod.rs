//! A data folder of an earlier release is brought up to date, and everything in it is still there.

use crate::world::*;
use hermod_domain::ids::{CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{MessageState, RefusedFor, Verdict};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, MessageName};
use hermod_domain::time::{Day, Timestamp};
use hermod_store::{
    Acceptance, DayTotals, Duplicate, KeyClaim, LedgerKind, ReportOutcome, ResponseRecord, Store, StoreError,
    SubmitResponse,
};
use std::time::Duration;
use tempfile::TempDir;

const SCHEMA_1: &str = include_str!("schema_1.sql");
const SCHEMA_2: &str = include_str!("schema_2.sql");
const SCHEMA_4: &str = include_str!("schema_4.sql");
const VALIDITY_AND_A_DAY: Duration = Duration::from_secs(4 * 86_400);

fn message(stored: i64) -> MessageId {
    MessageId::from_i64(stored).expect("an id")
}

const fn totals(day: i64, messages: u64) -> DayTotals {
    DayTotals { day: Day::new(day), messages, spend: Money::from_micros(PRICE * messages.cast_signed()) }
}

#[tokio::test]
async fn a_folder_of_schema_1_opens_with_everything_in_it() {
    let folder = TempDir::new().unwrap();
    raw(folder.path()).execute_batch(SCHEMA_1).unwrap();
    let looked = Store::audit(folder.path());
    assert!(
        matches!(looked, Err(StoreError::TooOld { found: 1, .. })),
        "an audit never migrates: {looked:?}"
    );

    let now = noon().plus(VALIDITY);
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.books_are_sound();
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 4 * PRICE);
    assert_eq!(world.store.catalogue().await.unwrap()[0].name, "alice");
    let states = [
        (15_458_579_251_200_000, MessageState::Expired),
        (15_526_526_976_000_000, MessageState::Delivered),
        (15_526_526_976_000_001, MessageState::Submitted),
        (15_526_526_976_000_002, MessageState::Queued),
        (15_526_526_976_000_003, MessageState::Queued),
    ];
    for (id, state) in states {
        assert_eq!(world.state(message(id)).await, state, "message {id}");
    }
    let replay = world.store.find_key(key(1)).await.unwrap().unwrap();
    assert_eq!((replay.message, replay.is_same_request), (message(15_526_526_976_000_000), true));
    let ledger = world.store.ledger(ALICE, None, 10).await.unwrap();
    let kinds: Vec<_> = ledger.iter().map(|row| (row.kind, row.reference.clone())).collect();
    assert_eq!(kinds, [(LedgerKind::Refund, None), (LedgerKind::TopUp, None)]);

    // The days of the past are counted, and today goes on from there.
    let counted = [totals(20_771, 1), totals(20_774, 4)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);
    let sent = world.sends(world.sms()).await;
    assert!(sent > message(15_526_526_976_000_003));
    let counted = [totals(20_771, 1), totals(20_774, 5)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);

    // What was under way is finished.
    world.link().await.receipt("b", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message(15_526_526_976_000_001)).await, MessageState::Delivered);
    world.passes(IN_DOUBT_WAIT).await;
    let link = world.link_with_room(10).await;
    assert_eq!(link.takes_jobs(4).await.len(), 4);
    world.now = world.now.plus(VALIDITY_AND_A_DAY);
    world.store.delete_expired(world.now).await.unwrap();
    world.restarts().await;
    world.sends(Acceptance { key: Some(key(3)), ..world.sms() }).await;
    world.books_are_sound();
}

#[tokio::test]
async fn carrier_ids_and_parked_receipts_of_schema_2_are_found_as_before_and_better() {
    let folder = TempDir::new().unwrap();
    raw(folder.path()).execute_batch(SCHEMA_2).unwrap();
    let now = noon().plus(VALIDITY);
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.books_are_sound();
    let parked = world.store.parked(ACME, 10).await.unwrap();
    let shown: Vec<_> = parked.iter().map(|parked| (parked.remote.to_text(), parked.verdict)).collect();
    assert_eq!(shown, [("ppp".to_owned(), Verdict::Delivered)], "the final word of two");
    let others = world.store.parked(CarrierId::new(2), 10).await.unwrap();
    assert_eq!((others[0].verdict, others[0].err), (Verdict::Undeliverable, 12));

    let link = world.link_with_room(10).await;
    for (remote, id, state) in [
        ("b", 15_526_526_976_000_001, MessageState::Delivered),
        ("AE", 15_526_526_976_000_002, MessageState::Delivered),
        ("0", 15_458_579_251_200_000, MessageState::Expired),
    ] {
        link.receipt(remote, Verdict::Delivered).await;
        world.settles().await;
        assert_eq!(world.state(message(id)).await, state, "{remote}");
    }
    assert_eq!(
        world.timeline(message(15_458_579_251_200_000)),
        ["late_receipt"],
        "it was known for what it is"
    );
    // The receipt that waited for its answer meets it.
    let jobs = link.takes_jobs(2).await;
    link.accepts(&jobs[0], "ppp").await;
    link.accepts(&jobs[1], "qqq").await;
    link.receipt("qqq", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(jobs[0].message).await, MessageState::Delivered);
    assert!(world.store.parked(ACME, 10).await.unwrap().is_empty());
    // When the ids of earlier releases were given is not known, so how long it took is not either.
    world.restarts().await;
    let rows = world.store.delivery_stats(Day::new(0), Day::new(99_999), None).await.unwrap();
    let figures = rows[0].figures;
    assert_eq!((rows[0].day, figures.sent, figures.delivered), (Day::new(20_774), 2, 4));
    assert_eq!(figures.times.iter().sum::<u64>(), 2);
    world.books_are_sound();
}

#[tokio::test]
async fn reports_and_short_names_of_schema_4_are_still_there() {
    let folder = TempDir::new().unwrap();
    raw(folder.path()).execute_batch(SCHEMA_4).unwrap();
    let now = Timestamp::from_millis(1_794_754_616_148).plus(secs(60));
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.books_are_sound();
    assert_eq!(world.balance(ALICE).await, 1_000_000_000_000 - 150_000);
    assert_eq!(
        world.store.provisioned().await.unwrap(),
        [],
        "no file was applied by a release that remembers it"
    );
    let named = world.store.named(ALICE, MessageName::Alias(Alias::FIRST)).await.unwrap();
    assert_eq!(named, Some(message(15_483_539_512_098_816)));

    let bind = ConnectionId::new(2);
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 3);
    let port = world.store.open_receiver(bind);
    let reports = port.take(10, world.now).await;
    let taken: Vec<_> = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
    assert_eq!(taken.len(), 3, "{reports:?}");
    port.settle(taken, world.now).await.unwrap();
    world.settles().await;
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 0);
    world.restarts().await;
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 0);
    world.books_are_sound();
}

#[tokio::test]
async fn parts_deferred_in_schema_10_come_out_at_their_times() {
    let mut world = World::new().await;
    let waiting = world.sends(world.sms()).await;
    let link = world.link_with_room(1).await;
    let job = link.takes_job().await;
    link.answers(&job, SubmitResponse::Temporary { status: 8, after: Some(secs(60)) }).await;
    world.settles().await;
    world.store.close().await.unwrap();
    world.raw().execute_batch(UNDO_14).unwrap();
    world.raw().execute_batch("DROP INDEX part_due; DROP TABLE set_aside; DROP VIEW open_part; DROP TABLE late_part; PRAGMA user_version = 10").unwrap();
    world.opens();
    let link = world.link_with_room(1).await;
    world.passes(secs(59)).await;
    link.has_nothing().await;
    world.passes(secs(1)).await;
    assert_eq!(link.takes_job().await.message, waiting);
    world.books_are_sound();
}

#[tokio::test]
async fn keys_of_the_days_of_schema_13_are_found_and_merged() {
    let mut world = World::new().await;
    let mut messages = Vec::new();
    for day in 0..6 {
        world.now = noon().plus(secs(day * 86_400));
        for _ in 0..50 {
            messages.push(world.sends(world.sms()).await);
        }
    }
    world.store.close().await.unwrap();
    world.raw().execute_batch(UNDO_14).unwrap();
    for (number, message) in (0..).zip(&messages) {
        let day = message.accepted_at().day().get();
        let table = format!(
            "CREATE TABLE IF NOT EXISTS key_{day} (digest BLOB PRIMARY KEY, message INTEGER NOT NULL,
                 fingerprint INTEGER NOT NULL) WITHOUT ROWID, STRICT"
        );
        world.raw().execute_batch(&table).unwrap();
        let KeyClaim { digest, fingerprint } = key(number);
        let insert = format!("INSERT INTO key_{day} VALUES (?1, ?2, ?3)");
        let row = rusqlite::params![digest, message.as_i64(), fingerprint.cast_signed()];
        world.raw().execute(&insert, row).unwrap();
    }
    world.opens();
    for _ in 0..2 {
        for (number, message) in (0..).zip(&messages) {
            let found = world.store.find_key(key(number)).await.unwrap();
            assert_eq!(found, Some(Duplicate { message: *message, is_same_request: true }), "key {number}");
        }
        assert_eq!(world.store.find_key(key(1_000)).await.unwrap(), None);
        world.books_are_sound();
        world.store.merge_keys().await.unwrap();
    }
    let buckets: i64 =
        world.raw().query_row("SELECT count(*) FROM key_bucket", [], |row| row.get(0)).unwrap();
    assert_eq!(buckets, 1, "six days are merged");
}

/// Returns the rows of the tables that decide what may happen to messages beyond their ordinary course.
fn exceptions(world: &World) -> Vec<(i64, i64, i64, Option<i64>, i64)> {
    let raw = world.raw();
    let mut rows = raw
        .prepare(
            "SELECT 0, message, failed_over, unknown_at, late_receipts FROM message_exception
             UNION ALL SELECT 1, message, carrier, NULL, 0 FROM carrier_refusal ORDER BY 1, 2, 3",
        )
        .expect("a query");
    let rows =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
    rows.expect("rows").collect::<Result<_, _>>().expect("numbers")
}

#[tokio::test]
async fn what_the_timeline_of_schema_14_decided_is_decided_as_before() {
    let mut world = World::new().await;
    let link = world.link_with_room(9).await;
    let other = world.link_to(OTHER, 9).await;
    let late = world.is_submitted(&link, world.sms(), "late").await;
    for _ in 0..3 {
        link.receipt("late", Verdict::Delivered).await;
    }
    let unknown = world.is_submitted(&link, world.sms(), "unknown").await;
    world.passes(VALIDITY_AND_A_DAY).await;
    world.sweeps(world.now).await;
    let refused = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    let no = SubmitResponse::Refused { about: RefusedFor::Anything, status: 0x45 };
    let says = |job, carrier| ResponseRecord { failover_to: Some(split(carrier)), ..answer(job, no.clone()) };
    link.says(vec![says(&job, OTHER)], Vec::new()).await;
    other.takes_job().await;
    world.store.close().await.unwrap();

    let [late, unknown, refused] = [late, unknown, refused].map(MessageId::as_i64);
    let rows = exceptions(&world);
    assert_eq!(
        rows,
        [
            (0, late, 0, None, 2),
            (0, unknown, 0, Some(world.now.as_millis()), 0),
            (0, refused, 1, None, 0),
            (1, refused, 1, None, 0)
        ]
    );
    world.raw().execute_batch(UNDO_15).unwrap();
    world.opens();
    assert_eq!(exceptions(&world), rows);
    // The message is with the other carrier since before the restart: its answer is missing, and it is resent.
    world.passes(IN_DOUBT_WAIT).await;
    let link = world.link_with_room(9).await;
    let other = world.link_to(OTHER, 9).await;
    other.says(vec![says(&other.takes_job().await, ACME)], Vec::new()).await;
    world.settles().await;
    link.has_nothing().await;
    assert_eq!(world.state(message(refused)).await, MessageState::Undeliverable, "both have refused it");
    world.books_are_sound();
}
