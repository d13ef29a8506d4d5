//! Schema migrations: a data folder of an earlier schema opens with all its data.

mod carrier_ids;
mod history;

pub(crate) use history::UNDO_NEWEST;

use crate::mo::{FOREIGN, HANDSET, text};
use crate::world::*;
use hermod_domain::ids::{CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState, RejectionCause};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, MessageName};
use hermod_domain::time::{Day, Timestamp};
use hermod_store::{
    Acceptance, DayTotals, Duplicate, KeyClaim, LedgerKind, ReportOutcome, ResponseRecord, Screened,
    Screening, Store, StoreError, SubmitResponse,
};
use std::time::Duration;
use tempfile::TempDir;

const SCHEMA_1: &str = include_str!("schema_1.sql");
const SCHEMA_2: &str = include_str!("schema_2.sql");
const SCHEMA_4: &str = include_str!("schema_4.sql");
const VALIDITY_AND_A_DAY: Duration = Duration::from_secs(4 * 86_400);

/// Reverts migrations 22 to 17.
pub(crate) const UNDO_17: &str = "DROP TABLE customer_request; DROP INDEX review_account; ALTER TABLE review DROP COLUMN reason; DROP TABLE audit_log; DROP TABLE user_token; ALTER TABLE writer DROP COLUMN store; ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; ALTER TABLE unassigned_inbound RENAME TO unowned_inbound; PRAGMA user_version = 16;";

/// Reverts migrations 22 to 16.
pub(crate) const UNDO_16: &str = "DROP TABLE customer_request; DROP INDEX review_account; ALTER TABLE review DROP COLUMN reason; DROP TABLE audit_log; DROP TABLE user_token; ALTER TABLE writer DROP COLUMN store; ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; ALTER TABLE unassigned_inbound RENAME TO unowned_inbound; DROP TABLE step_counter; PRAGMA user_version = 15;";

/// Reverts migrations 22 to 15.
pub(crate) const UNDO_15: &str = "DROP TABLE customer_request; DROP INDEX review_account; ALTER TABLE review DROP COLUMN reason; DROP TABLE audit_log; DROP TABLE user_token; ALTER TABLE writer DROP COLUMN store; ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; ALTER TABLE unassigned_inbound RENAME TO unowned_inbound; DROP TABLE message_exception; DROP TABLE carrier_refusal; DROP TABLE step_counter; PRAGMA user_version = 14;";

/// Reverts migrations 22 to 14 of a store without idempotency keys.
pub(crate) const UNDO_14: &str = "DROP TABLE customer_request; DROP INDEX review_account; ALTER TABLE review DROP COLUMN reason; DROP TABLE audit_log; DROP TABLE user_token; ALTER TABLE writer DROP COLUMN store; ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; 
    ALTER TABLE unassigned_inbound RENAME TO unowned_inbound;
    DROP TABLE message_exception; DROP TABLE carrier_refusal; DROP TABLE step_counter;
    DROP TABLE key_log; DROP TABLE key_bucket; DROP TABLE key_block; DROP TABLE key_filter;
    CREATE TABLE key_filter (day INTEGER NOT NULL, part INTEGER NOT NULL, upto INTEGER NOT NULL, filter BLOB NOT NULL,
                             PRIMARY KEY (day, part)) STRICT;
    DELETE FROM retention WHERE what = 3;
    PRAGMA user_version = 13;";

/// Reverts migrations 22 and 20.
const UNDO_20: &str = "ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; DROP TABLE customer_request; DROP INDEX review_account; ALTER TABLE review DROP COLUMN reason; PRAGMA user_version = 19;";

fn message(stored: i64) -> MessageId {
    MessageId::from_i64(stored).expect("an id")
}

const fn totals(day: i64, messages: u64) -> DayTotals {
    DayTotals { day: Day::new(day), messages, spend: Money::from_micros(PRICE * messages.cast_signed()) }
}

#[tokio::test]
async fn folder_of_schema_1_opens_with_all_its_data() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let folder = TempDir::new().unwrap();
    sqlite(folder.path()).execute_batch(SCHEMA_1).unwrap();
    let looked = Store::audit(folder.path());
    assert!(
        matches!(looked, Err(StoreError::TooOld { found: 1, .. })),
        "an audit never migrates: {looked:?}"
    );

    let now = noon().plus(VALIDITY);
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.assert_migrated_clean();
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

    // Past days are counted, and today continues from there.
    let counted = [totals(20_771, 1), totals(20_774, 4)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);
    let sent = world.send(world.sms()).await;
    assert!(sent > message(15_526_526_976_000_003));
    let counted = [totals(20_771, 1), totals(20_774, 5)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);

    // Unfinished messages are finished.
    world.link().await.receipt("b", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message(15_526_526_976_000_001)).await, MessageState::Delivered);
    world.advance(IN_DOUBT_WAIT).await;
    let link = world.link_with_slots(10).await;
    assert_eq!(link.take_jobs(4).await.len(), 4);
    world.now = world.now.plus(VALIDITY_AND_A_DAY);
    world.store.delete_expired(world.now).await.unwrap();
    world.restart().await;
    world.send(Acceptance { key: Some(key(3)), ..world.sms() }).await;
    world.assert_migrated_clean();
}

#[tokio::test]
async fn carrier_ids_and_parked_receipts_of_schema_2_are_matched() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let folder = TempDir::new().unwrap();
    sqlite(folder.path()).execute_batch(SCHEMA_2).unwrap();
    let now = noon().plus(VALIDITY);
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.assert_migrated_clean();
    let parked = world.store.parked(ACME, 10).await.unwrap();
    let shown: Vec<_> = parked.iter().map(|parked| (parked.remote.to_text(), parked.verdict)).collect();
    assert_eq!(shown, [("ppp".to_owned(), DeliveryOutcome::Delivered)], "the final one of two receipts");
    let others = world.store.parked(CarrierId::new(2), 10).await.unwrap();
    assert_eq!((others[0].verdict, others[0].err), (DeliveryOutcome::Undeliverable, 12));

    let link = world.link_with_slots(10).await;
    for (remote, id, state) in [
        ("b", 15_526_526_976_000_001, MessageState::Delivered),
        ("AE", 15_526_526_976_000_002, MessageState::Delivered),
        ("0", 15_458_579_251_200_000, MessageState::Expired),
    ] {
        link.receipt(remote, DeliveryOutcome::Delivered).await;
        world.flush().await;
        assert_eq!(world.state(message(id)).await, state, "{remote}");
    }
    assert_eq!(
        world.timeline(message(15_458_579_251_200_000)),
        ["late_receipt"],
        "the receipt was matched to its message"
    );
    // The response matches the parked receipt.
    let jobs = link.take_jobs(2).await;
    link.accept(&jobs[0], "ppp").await;
    link.accept(&jobs[1], "qqq").await;
    link.receipt("qqq", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(jobs[0].message).await, MessageState::Delivered);
    assert!(world.store.parked(ACME, 10).await.unwrap().is_empty());
    // The time of carrier ids of earlier releases is unknown, so their delivery time is too.
    world.restart().await;
    let rows = world.store.delivery_stats(Day::new(0), Day::new(99_999), None).await.unwrap();
    let figures = rows[0].figures;
    assert_eq!((rows[0].day, figures.sent, figures.delivered), (Day::new(20_774), 2, 4));
    assert_eq!(figures.times.iter().sum::<u64>(), 2);
    world.assert_migrated_clean();
}

#[tokio::test]
async fn reports_and_short_names_of_schema_4_are_kept() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let folder = TempDir::new().unwrap();
    sqlite(folder.path()).execute_batch(SCHEMA_4).unwrap();
    let now = Timestamp::from_millis(1_794_754_616_148).plus(secs(60));
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.assert_migrated_clean();
    assert_eq!(world.balance(ALICE).await, 1_000_000_000_000 - 150_000);
    assert_eq!(
        world.store.provisioned().await.unwrap(),
        [],
        "releases of schema 4 did not record provision files"
    );
    let named = world.store.message_named(ALICE, MessageName::Alias(Alias::FIRST)).await.unwrap();
    assert_eq!(named.map(|record| record.id), Some(message(15_483_539_512_098_816)));

    let bind = ConnectionId::new(2);
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 3);
    let port = world.store.open_receiver(bind);
    let reports = port.take(10, world.now).await;
    let taken: Vec<_> = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
    assert_eq!(taken.len(), 3, "{reports:?}");
    port.settle(taken, world.now).await.unwrap();
    world.flush().await;
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 0);
    world.restart().await;
    assert_eq!(world.store.reports_waiting(bind).await.unwrap(), 0);
    world.assert_migrated_clean();
}

#[tokio::test]
async fn parts_deferred_in_schema_10_are_sent_at_their_due_times() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let waiting = world.send(world.sms()).await;
    let link = world.link_with_slots(1).await;
    let job = link.take_job().await;
    link.answer(&job, SubmitResponse::Temporary { status: 8, after: Some(secs(60)) }).await;
    world.flush().await;
    world.store.close().await.unwrap();
    world.revert(UNDO_14);
    world.sqlite().execute_batch("DROP INDEX part_due; DROP TABLE set_aside; DROP VIEW open_part; DROP TABLE late_part; PRAGMA user_version = 10").unwrap();
    world.reopen();
    let link = world.link_with_slots(1).await;
    world.advance(secs(59)).await;
    link.assert_idle().await;
    world.advance(secs(1)).await;
    assert_eq!(link.take_job().await.message, waiting);
    world.assert_migrated_clean();
}

#[tokio::test]
async fn daily_key_tables_of_schema_13_are_found_and_merged() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let mut messages = Vec::new();
    for day in 0..6 {
        world.now = noon().plus(secs(day * 86_400));
        for _ in 0..50 {
            messages.push(world.send(world.sms()).await);
        }
    }
    world.store.close().await.unwrap();
    world.revert(UNDO_14);
    for (number, message) in (0..).zip(&messages) {
        let day = message.accepted_at().day().get();
        let table = format!(
            "CREATE TABLE IF NOT EXISTS key_{day} (digest BLOB PRIMARY KEY, message INTEGER NOT NULL,
                 fingerprint INTEGER NOT NULL) WITHOUT ROWID, STRICT"
        );
        world.sqlite().execute_batch(&table).unwrap();
        let KeyClaim { digest, fingerprint } = key(number);
        let insert = format!("INSERT INTO key_{day} VALUES (?1, ?2, ?3)");
        let row = rusqlite::params![digest, message.as_i64(), fingerprint.cast_signed()];
        world.sqlite().execute(&insert, row).unwrap();
    }
    world.reopen();
    for _ in 0..2 {
        for (number, message) in (0..).zip(&messages) {
            let found = world.store.find_key(key(number)).await.unwrap();
            assert_eq!(found, Some(Duplicate { message: *message, is_same_request: true }), "key {number}");
        }
        assert_eq!(world.store.find_key(key(1_000)).await.unwrap(), None);
        world.assert_migrated_clean();
        world.store.merge_keys().await.unwrap();
    }
    let buckets: i64 =
        world.sqlite().query_row("SELECT count(*) FROM key_bucket", [], |row| row.get(0)).unwrap();
    assert_eq!(buckets, 1, "six days are merged");
}

/// Returns the rows of `message_exception` and `carrier_refusal`.
fn exceptions(world: &World) -> Vec<(i64, i64, i64, Option<i64>, i64)> {
    let raw = world.sqlite();
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
async fn exceptions_in_the_timeline_of_schema_14_are_migrated_to_their_tables() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let link = world.link_with_slots(9).await;
    let other = world.link_to(OTHER, 9).await;
    let late = world.send_submitted(&link, world.sms(), "late").await;
    for _ in 0..3 {
        link.receipt("late", DeliveryOutcome::Delivered).await;
    }
    let unknown = world.send_submitted(&link, world.sms(), "unknown").await;
    world.advance(VALIDITY_AND_A_DAY).await;
    world.sweep(world.now).await;
    let refused = world.send(world.sms()).await;
    let job = link.take_job().await;
    let no = SubmitResponse::Refused { about: RejectionCause::Other, status: 0x45 };
    let says = |job, carrier| ResponseRecord { failover_to: Some(split(carrier)), ..answer(job, no.clone()) };
    link.respond(vec![says(&job, OTHER)], Vec::new()).await;
    other.take_job().await;
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
    world.revert(UNDO_15);
    world.reopen();
    assert_eq!(exceptions(&world), rows);
    // The other carrier has the message since before the restart; without a response it is resent.
    world.advance(IN_DOUBT_WAIT).await;
    let link = world.link_with_slots(9).await;
    let other = world.link_to(OTHER, 9).await;
    other.respond(vec![says(&other.take_job().await, ACME)], Vec::new()).await;
    world.flush().await;
    link.assert_idle().await;
    assert_eq!(world.state(message(refused)).await, MessageState::Undeliverable, "both carriers rejected it");
    world.assert_migrated_clean();
}

#[tokio::test]
async fn step_counter_of_schema_15_begins_after_the_last_step_of_the_timeline() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let link = world.link_with_slots(9).await;
    for id in ["a", "b"] {
        let message = world.send_submitted(&link, world.sms(), id).await;
        link.receipt(id, DeliveryOutcome::Delivered).await;
        link.receipt(id, DeliveryOutcome::Delivered).await;
        world.flush().await;
        assert_eq!(world.timeline(message), ["late_receipt"]);
    }
    world.store.close().await.unwrap();
    let raw = world.sqlite();
    let number = |query: &str| raw.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    let last_step = number("SELECT max(rowid) FROM timeline");
    world.revert(UNDO_16);
    world.reopen();
    assert_eq!(number("SELECT reserved FROM step_counter"), last_step);
    world.assert_migrated_clean();

    world.link().await.receipt("b", DeliveryOutcome::Delivered).await;
    world.flush().await;
    drop(world.sqlite());
    let next_step = number("SELECT max(rowid) FROM timeline");
    assert!(next_step > last_step, "step {next_step} after {last_step}");
    assert!(number("SELECT reserved FROM step_counter") >= next_step);
    world.restart().await;
    world.assert_migrated_clean();
}

#[tokio::test]
async fn unowned_inbound_of_schema_16_is_kept_as_unassigned() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::with_numbers().await;
    world.receive_mo(text(HANDSET, FOREIGN, "hello")).await;
    let unassigned = world.store.unassigned_inbound(None, 10).await.unwrap();
    assert_eq!(unassigned.len(), 1);
    world.store.close().await.unwrap();
    world.revert(UNDO_17);
    world.reopen();
    assert_eq!(world.store.unassigned_inbound(None, 10).await.unwrap(), unassigned);
    world.assert_migrated_clean();
}

#[tokio::test]
async fn folder_of_schema_19_keeps_its_reviews_and_takes_requests() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let screened = Screened {
        account: ALICE,
        from: world.sms().from,
        to: world.sms().to,
        text: "you won".to_owned(),
        digest: [7; 16],
        rules: vec!["prizes".to_owned()],
        now: world.now,
    };
    assert_eq!(world.store.screen(screened).await.unwrap(), Screening::Held { case: Some(1) });
    world.store.close().await.unwrap();
    world.revert(UNDO_20);
    world.reopen();
    let case = world.store.review(1).await.unwrap().unwrap();
    assert_eq!((case.text.as_str(), case.reason.as_str()), ("you won", ""));
    assert_eq!(world.store.customer_requests(None, None, None, 10).await.unwrap(), []);
    world.assert_migrated_clean();
}
