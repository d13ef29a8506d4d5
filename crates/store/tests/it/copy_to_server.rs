//! Copies of an embedded store to PostgreSQL: complete, continued after a stop, and usable with the same record.

use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::text::MessageText;
use hermod_store::{
    Acceptance, CopyError, CopyReport, CopyStep, OpenOptions, OptOut, Store, StoreError, SubmitResponse,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tempfile::TempDir;

pub(crate) const PEPPER: [u8; 8] = *b"a pepper";
/// More rows than one step of a copy has.
pub(crate) const MANY_OPT_OUTS: u64 = 250_000;
/// Rows of tables that the API fills only with much effort.
const ROWS: &str = "
    CREATE TABLE retired_remote_20000 (
        carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
        message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (carrier, key, raw)
    ) WITHOUT ROWID, STRICT;
    INSERT INTO retired_remote_20000 VALUES (1, x'0001', x'', 1, 7, 1, 0, 5), (1, x'ff', x'00', 1, 8, 1, 0, 5);
    INSERT INTO unassigned_inbound VALUES (77, 1, '4915112345678', '80800', 'nul ' || char(0) || ' in it', x'0102', 0, 5);
    INSERT INTO review_counter (id, last) VALUES (1, 41);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)
    INSERT INTO opt_out (account, number, at, source, how) SELECT 2, 4915200000000 + i, i, 'keyword', 'STOP' FROM n;";
/// A line of the record that cannot be made again from the store.
const REQUEST: &str = "INSERT INTO request (at, kind, operation, who, status, reason, took_ms, replay)
     VALUES (1, 1, 'only in the record', 'x', 401, '', 1, 0)";

pub(crate) fn embedded(folder: &Path) -> OpenOptions {
    OpenOptions { server: None, record: true, ..options(folder, noon()) }
}

/// Returns an embedded store with messages in many states, as a kill leaves it: its last batches are only in the journal.
/// None without a server to copy it to.
pub(crate) async fn killed_store() -> Option<World> {
    let Some(_) = server_address() else {
        println!("only for PostgreSQL");
        return None;
    };
    let folder = TempDir::new().expect("a temporary folder");
    let store = Store::open(&embedded(folder.path())).expect("a new store");
    store.record().flush().await.expect("the record is complete");
    let mut world = World { folder, store, now: noon() };
    world.pay_in(ALICE, 1_000_000_000).await;
    world.pay_in(BOB, 5_000_000).await;
    for day in 0..2 {
        let link = world.link_with_slots(6).await;
        for number in 0..9 {
            world.send(Acceptance { key: Some(key(100 * day + number)), ..world.sms() }).await;
        }
        let jobs = link.take_jobs(6).await;
        for (number, job) in jobs.iter().take(4).enumerate() {
            link.accept(job, &format!("id-{day}-{number}")).await;
        }
        link.answer(&jobs[4], refused(11)).await;
        link.receipt(&format!("id-{day}-0"), DeliveryOutcome::Delivered).await;
        link.receipt(&format!("id-{day}-1"), DeliveryOutcome::Undeliverable).await;
        link.receipt("unknown", DeliveryOutcome::Delivered).await;
        world.store.record().flush().await.expect("the record is complete");
        world.advance(secs(86_400)).await;
    }
    world.send(Acceptance { text: MessageText::parse("nul \0 in it").expect("a text"), ..world.sms() }).await;
    let now = world.now;
    world.store.opt_outs().add(OptOut::by_keyword(ALICE, number(1), now)).await.expect("done");
    world.store.record().flush().await.expect("the record is complete");
    world.folder = copy_of(world.path());
    Some(world)
}

fn number(last: u64) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + last).expect("a number")
}

pub(crate) fn copy(
    folder: &Path,
    on_step: impl FnMut(CopyStep<'_>) + Send,
) -> Result<CopyReport, StoreError> {
    Store::copy_to_server(folder, &server(folder).expect("a server"), PEPPER, on_step)
}

/// Adds rows by hand to a store that no process has open, and to its record.
pub(crate) fn add_rows(folder: &Path) {
    // Brings the batches of the journal into the database, whose rows the statements change.
    Store::audit(folder).expect("an audit");
    sqlite(folder).execute_batch(ROWS).expect("rows");
    let record = rusqlite::Connection::open(folder.join("record.db")).expect("the record");
    record.execute_batch(REQUEST).expect("a row");
}

#[tokio::test]
async fn copied_store_continues_on_the_server_with_its_record() {
    let Some(mut world) = killed_store().await else { return };
    let report = copy(world.path(), |_| {}).expect("a copy");
    assert!(report.audit.is_clean(), "{:#?}", report.audit.violations);
    assert_eq!((report.audit.messages, report.copied_before), (19, 0));
    assert_eq!(server(world.path()).map(|server| server.name()), Some(report.place));
    let again = copy(world.path(), |_| {}).map(drop).expect_err("it is there");
    assert!(matches!(again, StoreError::Copy(CopyError::Complete(_))), "{again}");
    let original = Store::audit(world.path()).expect("an audit");
    assert!(original.is_clean(), "{:#?}", original.violations);
    let record = rusqlite::Connection::open(world.path().join("record.db")).expect("the record");
    record.execute_batch(REQUEST).expect("a row");

    let balance = world.balance(ALICE).await;
    world.store =
        Store::open(&OpenOptions { record: true, ..options(world.path(), world.now) }).expect("it opens");
    assert_eq!(world.balance(ALICE).await, balance);
    let found = world.store.find_key(key(3)).await.expect("the store answers");
    assert!(found.is_some(), "idempotency keys are copied");
    world.store.record().flush().await.expect("the record goes on");
    let kept = "SELECT count(*) FROM request WHERE operation = 'only in the record'";
    let kept: i64 = record.query_row(kept, [], |row| row.get(0)).expect("a number");
    assert_eq!(kept, 1, "the record was not made again");

    let link = world.link_with_slots(20).await;
    link.receipt("id-1-2", DeliveryOutcome::Delivered).await;
    let sent = world.send(world.sms()).await;
    let jobs = link.take_jobs(8).await;
    for (number, job) in jobs.iter().enumerate() {
        link.answer(job, SubmitResponse::Accepted(remote(&format!("later-{number}")))).await;
    }
    assert!(jobs.iter().any(|job| job.message == sent));
    world.store.close().await.expect("it closes");
    world.assert_audit_clean();
}

#[tokio::test]
async fn stopped_copy_continues_where_it_ended_and_is_not_opened_before() {
    let Some(world) = killed_store().await else { return };
    add_rows(world.path());
    let mut steps = 0;
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        copy(world.path(), |step| {
            if let CopyStep::Rows { table: "opt_out", .. } = step {
                steps += 1;
                assert!(steps < 2, "the process ends after the second step of this table");
            }
        })
    }));
    assert!(stopped.is_err());

    let refused = Store::open(&options(world.path(), world.now)).map(drop).expect_err("a part of a store");
    assert!(matches!(refused, StoreError::UnfinishedCopy(_)), "{refused}");
    let server = server(world.path()).expect("a server");
    let refused = Store::audit_server(&server, None).map(drop).expect_err("a part of a store");
    assert!(matches!(refused, StoreError::UnfinishedCopy(_)), "{refused}");

    let report = copy(world.path(), |_| {}).expect("a copy");
    assert!(report.copied_before >= 200_000, "{}", report.copied_before);
    assert!(report.rows > MANY_OPT_OUTS && report.copied_before < report.rows);
    let raw = raw(world.path());
    assert_eq!(raw.number("SELECT count(*) FROM opt_out"), MANY_OPT_OUTS.cast_signed() + 1);
    assert_eq!(raw.number("SELECT count(*) FROM retired_remote_20000 WHERE octet_length(raw) = 1"), 1);
    assert_eq!(raw.number("SELECT octet_length(text) FROM unassigned_inbound"), 11);
    assert_eq!(raw.number("SELECT last FROM review_counter"), 41);
    assert_eq!(raw.texts("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, 'store_copy')"), [""; 0]);
}

#[tokio::test]
async fn copy_is_refused_if_a_side_is_in_use_not_empty_or_another_store() {
    let Some(world) = killed_store().await else { return };
    let refused = |folder: &Path| copy(folder, |_| {}).map(drop).expect_err("no copy");

    let folder = copy_of(world.path());
    let open = Store::open(&embedded(folder.path())).expect("it opens");
    assert!(matches!(refused(folder.path()), StoreError::InUse(_)), "a gateway runs on the folder");
    open.close().await.expect("it closes");

    let refused_start = Store::open(&options(folder.path(), noon())).map(drop).expect_err("an empty store");
    assert!(matches!(refused_start, StoreError::NotCopied { .. }), "{refused_start}");
    let node = TempDir::new().expect("a temporary folder");
    let on_schema = OpenOptions { server: server(folder.path()), ..options(node.path(), noon()) };
    let on_server = Store::open(&on_schema).expect("it opens");
    assert!(matches!(refused(folder.path()), StoreError::InUse(_)), "a gateway runs on the schema");
    let topped_up = World { folder: node, store: on_server, now: noon() };
    topped_up.pay_in(ALICE, 1).await;
    topped_up.store.close().await.expect("it closes");
    let error = refused(folder.path());
    assert!(matches!(error, StoreError::Copy(CopyError::NotEmpty { .. })), "{error}");

    let folder = copy_of(world.path());
    let stopped = catch_unwind(AssertUnwindSafe(|| copy(folder.path(), |_| panic!("the process ends"))));
    assert!(stopped.is_err());
    let other = server(folder.path()).expect("a server");
    let error =
        Store::copy_to_server(folder.path(), &other, *b"another!", |_| {}).map(drop).expect_err("no copy");
    assert!(matches!(error, StoreError::Copy(CopyError::OtherPepper(_))), "{error}");
    let changed = Store::open(&embedded(folder.path())).expect("it opens");
    let changed = World { folder, store: changed, now: noon() };
    changed.pay_in(ALICE, 1).await;
    changed.store.close().await.expect("it closes");
    let error = refused(changed.path());
    assert!(matches!(error, StoreError::Copy(CopyError::OtherCopy(_))), "{error}");
}

#[tokio::test]
async fn store_belongs_to_the_first_pepper_of_those_that_claim_it_together() {
    let world = World::new().await;
    assert_eq!(world.store.pepper_fingerprint().expect("an answer"), None);
    let claims: Vec<bool> = std::thread::scope(|threads| {
        let claim = |number: u8| {
            let store = &world.store;
            threads.spawn(move || store.claim_pepper([number; 8]).expect("an answer"))
        };
        let claims: Vec<_> = (0..8).map(claim).collect();
        claims.into_iter().map(|claim| claim.join().expect("no panic")).collect()
    });
    assert_eq!(claims.iter().filter(|claimed| **claimed).count(), 1, "{claims:?}");
    let first = claims.iter().position(|claimed| *claimed).and_then(|first| u8::try_from(first).ok());
    assert_eq!(world.store.pepper_fingerprint().expect("an answer"), first.map(|first| [first; 8]));
    assert!(first.is_some_and(|first| world.store.claim_pepper([first; 8]).expect("an answer")), "again");
}
