//! Copies of a store on PostgreSQL back to a data folder: complete, continued after a stop, and usable by a gateway.

use crate::copy_to_server::{MANY_OPT_OUTS, PEPPER, add_rows, copy, embedded, killed_store};
use crate::reports::CONNECTION;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{Acceptance, CopyError, CopyReport, CopyStep, OpenOptions, Server, Store, StoreError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tempfile::TempDir;

const MANY_ROWS: &str = "INSERT INTO opt_out (account, number, at, source, how) SELECT 2, 4915200000000 + i, i, 'keyword', 'STOP' FROM generate_series(1, 250000) AS i";

/// Returns a store on the server, which Alice has paid for; none without a server.
async fn store_on_server() -> Option<World> {
    if server_address().is_none() {
        println!("only for PostgreSQL");
        return None;
    }
    let world = World::with_record().await;
    assert!(world.store.claim_pepper(PEPPER).expect("an answer"));
    Some(world)
}

fn server_of(world: &World) -> Server {
    server(world.path()).expect("a server")
}

fn copy_back(
    server: &Server,
    folder: &Path,
    on_step: impl FnMut(CopyStep<'_>) + Send,
) -> Result<CopyReport, StoreError> {
    Store::copy_to_folder(server, folder, PEPPER, on_step)
}

fn new_folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

/// Returns all rows of all tables, except the store's own id and batches. Columns are in the order of their names.
fn rows(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let database = sqlite(folder);
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).expect("a query");
        let texts = statement.query_map([], |row| row.get(0)).expect("rows");
        texts.collect::<Result<_, _>>().expect("texts")
    };
    let tables = texts(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('writer', 'pepper_fingerprint') ORDER BY 1",
    );
    let of = |table: &String| {
        let mut columns = texts(&format!("SELECT name FROM pragma_table_info('{table}') ORDER BY 1"));
        if table == "timeline" {
            columns.push("rowid".to_owned());
        }
        let values: Vec<String> =
            columns.iter().map(|name| format!("typeof(\"{name}\") || hex(\"{name}\")")).collect();
        texts(&format!("SELECT {} FROM \"{table}\" ORDER BY 1", values.join(" || ',' || ")))
    };
    tables.iter().map(|table| (table.clone(), of(table))).collect()
}

#[tokio::test]
async fn copy_to_the_server_and_back_has_the_same_rows() {
    let Some(world) = killed_store().await else { return };
    add_rows(world.path());
    let there = copy(world.path(), |_| {}).expect("a copy");
    let back = new_folder();
    let mut last = 0;
    let report = copy_back(&server_of(&world), back.path(), |step| {
        if let CopyStep::Rows { copied, total, .. } = step {
            assert!(last < copied && copied <= total);
            last = copied;
        }
    });
    let report = report.expect("a copy");
    assert_eq!(last, report.rows);
    assert_eq!(report.place, back.path().display().to_string());
    assert_eq!((report.audit.messages, report.copied_before), (there.audit.messages, 0));

    let (original, copied) = (rows(world.path()), rows(back.path()));
    assert_eq!(original.keys().collect::<Vec<_>>(), copied.keys().collect::<Vec<_>>());
    for (table, rows) in &original {
        assert!(copied[table] == *rows, "{table}: {} rows, {} are copied", rows.len(), copied[table].len());
    }
    assert!(
        ["message", "key_log", "parked", "retired_remote_20000"]
            .iter()
            .all(|table| !copied[*table].is_empty())
    );
    let again = copy_back(&server_of(&world), back.path(), |_| {}).map(drop).expect_err("it is there");
    assert!(matches!(again, StoreError::Copy(CopyError::Complete(_))), "{again}");
}

#[tokio::test]
async fn gateway_on_the_copied_folder_continues_what_the_server_had() {
    let Some(world) = store_on_server().await else { return };
    world.enable_webhooks();
    let link = world.link().await;
    let keyed = Acceptance { key: Some(key(1)), ..world.sms() };
    world.send_accepted_as(&link, keyed, "delivered").await;
    link.receipt("delivered", DeliveryOutcome::Delivered).await;
    world.send_accepted_as(&link, world.smpp_message(1), "reported").await;
    link.receipt("reported", DeliveryOutcome::Delivered).await;
    let sent = world.send_accepted_as(&link, world.sms(), "sent").await;
    let waiting = world.send(world.sms()).await;
    world.receive_inbound("STOP it").await;
    link.close().await.expect("it closes");
    let (balance, due) = (world.balance(ALICE).await, world.due_events().await);
    assert!(!due.is_empty(), "a webhook waits");
    world.store.close().await.expect("it closes");
    let id = world.raw().texts("SELECT encode(store, 'hex') FROM writer");

    let back = new_folder();
    let report = copy_back(&server_of(&world), back.path(), |_| {}).expect("a copy");
    assert!(report.audit.is_clean(), "{:#?}", report.audit.violations);
    let store = Store::open(&embedded(back.path())).expect("it opens");
    let mut world = World { folder: back, store, now: world.now };
    world.enable_webhooks();
    assert_eq!(world.balance(ALICE).await, balance);
    assert_eq!(world.due_events().await, due);
    assert!(world.store.find_key(key(1)).await.expect("the store answers").is_some());
    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.take_reports(&port, 10).await.len(), 1, "a receipt waits for a bind");
    assert_eq!(world.store.inbound().list(ALICE, 0, 10).await.expect("the store answers").len(), 1);
    let link = world.link_with_slots(2).await;
    assert_eq!(link.take_job().await.message, waiting);
    link.receipt("sent", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(sent).await, MessageState::Delivered);
    world.store.record().flush().await.expect("the record is made again");
    world.advance(secs(1)).await;
    world.store.close().await.expect("it closes");
    let own = sqlite(world.path()).query_row("SELECT lower(hex(store)) FROM writer", [], |row| row.get(0));
    assert_ne!(own.map(|own: String| vec![own]).expect("an id"), id, "it has a history of its own");
    let audit = Store::audit(world.path()).expect("an audit");
    assert!(audit.is_clean(), "{:#?}", audit.violations);
}

#[tokio::test]
async fn text_past_its_retention_is_not_copied_back() {
    let Some(mut world) = store_on_server().await else { return };
    let old = world.send_with_receipts(world.sms(), "old", &[DeliveryOutcome::Delivered]).await;
    world.advance(secs(1)).await;
    let new = world.send(world.sms()).await;
    world.store.close().await.expect("it closes");
    world.raw().change_with("UPDATE retention SET upto = ?1 WHERE what = 1", &[new.as_i64()]);
    let back = new_folder();
    let report = copy_back(&server_of(&world), back.path(), |_| {}).expect("a copy");
    assert!(report.audit.is_clean(), "{:#?}", report.audit.violations);
    let store = Store::open(&embedded(back.path())).expect("it opens");
    let text = async |message| store.messages().text(ALICE, message).await.expect("the store answers");
    assert_eq!((text(old).await, text(new).await), (None, Some("hello".to_owned())));
}

#[tokio::test]
async fn stopped_copy_to_a_folder_continues_where_it_ended_and_is_not_opened_before() {
    let Some(world) = store_on_server().await else { return };
    world.send(world.sms()).await;
    world.store.close().await.expect("it closes");
    world.raw().change(MANY_ROWS);
    let back = new_folder();
    let mut steps = 0;
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        copy_back(&server_of(&world), back.path(), |step| {
            if let CopyStep::Rows { table: "opt_out", .. } = step {
                steps += 1;
                assert!(steps < 2, "the process ends after the second step of this table");
            }
        })
    }));
    assert!(stopped.is_err());

    let refused = Store::open(&embedded(back.path())).map(drop).expect_err("a part of a store");
    assert!(matches!(refused, StoreError::UnfinishedCopy(_)), "{refused}");
    let refused = Store::audit(back.path()).map(drop).expect_err("a part of a store");
    assert!(matches!(refused, StoreError::UnfinishedCopy(_)), "{refused}");
    let refused =
        Store::backup(back.path(), &back.path().join("backup.db"), noon()).expect_err("a part of a store");
    assert!(matches!(refused, StoreError::UnfinishedCopy(_)), "{refused}");

    let report = copy_back(&server_of(&world), back.path(), |_| {}).expect("a copy");
    assert!(report.copied_before >= 200_000 && report.copied_before < report.rows, "{report:?}");
    let opt_outs = sqlite(back.path()).query_row("SELECT count(*) FROM opt_out", [], |row| row.get(0));
    assert_eq!(opt_outs, Ok(MANY_OPT_OUTS.cast_signed()));
    Store::open(&embedded(back.path())).expect("it opens").close().await.expect("it closes");
}

#[tokio::test]
async fn copy_to_a_folder_is_refused_if_a_side_is_in_use_not_empty_or_another_store() {
    let Some(world) = store_on_server().await else { return };
    let (from, back) = (server_of(&world), new_folder());
    let refused = |folder: &Path| copy_back(&from, folder, |_| {}).map(drop).expect_err("no copy");
    assert!(matches!(refused(back.path()), StoreError::InUse(_)), "a node runs on the server");
    world.store.close().await.expect("it closes");

    let used = new_folder();
    let open = Store::open(&embedded(used.path())).expect("it opens");
    assert!(matches!(refused(used.path()), StoreError::InUse(_)), "a gateway runs on the folder");
    open.close().await.expect("it closes");
    let file = |error| match error {
        StoreError::Copy(CopyError::FolderNotEmpty { file, .. }) => file,
        error => panic!("{error}"),
    };
    assert_eq!(file(refused(used.path())), "hermod.db");
    std::fs::rename(used.path().join("hermod.db"), used.path().join("away")).expect("our own file");
    assert!(file(refused(used.path())).starts_with("journal-"));

    let other =
        Store::copy_to_folder(&from, back.path(), *b"another!", |_| {}).map(drop).expect_err("no copy");
    assert!(matches!(other, StoreError::Copy(CopyError::OtherPepperOfSource(_))), "{other}");
    assert!(!back.path().join("hermod.db").exists(), "nothing was begun");

    let node = new_folder();
    let as_node = OpenOptions { server: Some(from.clone()), ..options(node.path(), noon()) };
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        copy_back(&from, back.path(), |_| {
            let error = Store::open(&as_node).map(drop).expect_err("a copy is being made");
            assert!(matches!(error, StoreError::BeingCopied(_)), "{error}");
            panic!("the process ends");
        })
    }));
    assert!(stopped.is_err());
    let store = Store::open(&as_node).expect("the server can be used as before");
    let changed = World { folder: node, store, now: noon() };
    changed.pay_in(ALICE, 1).await;
    changed.store.close().await.expect("it closes");
    let error = refused(back.path());
    assert!(matches!(error, StoreError::Copy(CopyError::OtherCopy(_))), "{error}");
}
