//! Restarts at any point: nothing changes, except that parts that were being sent are in doubt.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{Acceptance, Store, StoreError, SubmitResponse};
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn restart_at_every_step_changes_nothing() {
    let mut world = World::new().await;
    let message = world.send(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    world.restart().await;
    assert_eq!(world.state(message).await, MessageState::Queued);

    let link = world.link_with_slots(1).await;
    let job = link.take_job().await;
    assert_eq!(job.message, message);
    link.accept(&job, "id").await;
    world.restart().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);

    world.link().await.receipt("id", DeliveryOutcome::Enroute).await;
    world.restart().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);

    world.link().await.receipt("id", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let before = world.record(message).await;
    world.restart().await;
    assert_eq!(world.record(message).await, before);
    assert_eq!(before.state, MessageState::Delivered);
    assert_eq!(world.store.find_key(key(1)).await.unwrap().map(|replay| replay.message), Some(message));
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn parked_receipt_survives_a_restart() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.receipt("early", DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.restart().await;
    // The part is in doubt; its resend gets the id of the receipt.
    world.advance(IN_DOUBT_WAIT).await;
    let link = world.link_with_slots(1).await;
    assert_eq!(link.take_job().await.message, job.message);
    link.accept(&job, "early").await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
}

#[tokio::test]
async fn part_being_sent_at_a_restart_is_in_doubt_and_queued_parts_keep_their_order() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(world.send(world.sms()).await);
    }
    link.take_jobs(2).await;
    world.restart().await;
    assert_eq!(world.timeline(sent[0]), ["in_doubt"]);
    assert_eq!(world.timeline(sent[2]), [""; 0]);
    let link = world.link_with_slots(10).await;
    let order: Vec<_> = link.take_jobs(3).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent[2..]);
    // Another restart does not add a second doubt.
    world.restart().await;
    assert_eq!(world.timeline(sent[0]), ["in_doubt"]);
    world.advance(IN_DOUBT_WAIT).await;
    let link = world.link_with_slots(10).await;
    let order: Vec<_> = link.take_jobs(5).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent);
    world.restart().await;
    assert_eq!(crate::world::audit(world.path()).resends, 5);
    for message in sent {
        assert_eq!(world.state(message).await, MessageState::Submitted, "presumed after the second doubt");
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn retry_times_continue_over_a_restart() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let retried = world.send(world.sms()).await;
    let doubted = world.send(world.sms()).await;
    let jobs = link.take_jobs(2).await;
    link.respond(
        vec![
            answer(&jobs[0], SubmitResponse::Temporary { status: 8, after: None }),
            answer(&jobs[1], SubmitResponse::NoResponse),
        ],
        vec![],
    )
    .await;
    world.flush().await;
    world.restart().await;
    let link = world.link_with_slots(5).await;
    world.advance(secs(4)).await;
    link.assert_idle().await;
    world.advance(secs(2)).await;
    assert_eq!(link.take_job().await.message, retried);
    world.advance(IN_DOUBT_WAIT).await;
    assert_eq!(link.take_job().await.message, doubted);
}

#[tokio::test]
async fn part_due_before_a_restart_is_due_after_it() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.flush().await;
    // The part is due, but no link has a slot.
    world.advance(IN_DOUBT_WAIT).await;
    world.restart().await;
    let link = world.link_with_slots(1).await;
    assert_eq!(link.take_job().await.message, message);
    assert_eq!(world.timeline(message), ["in_doubt", "resent"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn ids_rise_after_the_clock_was_set_back() {
    let mut world = World::new().await;
    let before = world.send(world.sms()).await;
    world.now = world.now.minus(secs(86_400));
    world.restart().await;
    let after = world.send(world.sms()).await;
    assert!(before < after);
    world.assert_audit_clean();
}

#[tokio::test]
async fn folder_in_use_by_another_process_is_rejected() {
    let world = World::new().await;
    let second = Store::open(&options(world.path(), world.now));
    // A server says itself that it is in use.
    let is_named = |named: &Path| named == world.path() || server(world.path()).is_some();
    assert!(matches!(&second, Err(StoreError::InUse(named)) if is_named(named)), "{:?}", second.err());
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    let second = Store::open(&options(world.path(), world.now)).expect("free again");
    assert_eq!(second.money().balance(ALICE).await.unwrap().balance.as_micros(), 1_000_000_000 - PRICE);
}

/// Audits the store of a folder, or of its server. Returns why it is refused.
fn refused_audit(folder: &Path) -> StoreError {
    let audited = match server(folder) {
        Some(server) => Store::audit_server(&server, None),
        None => Store::audit(folder),
    };
    audited.map(drop).expect_err("no audit")
}

#[tokio::test]
async fn store_of_a_newer_schema_is_rejected_and_unchanged() {
    let world = World::new().await;
    world.store.close().await.unwrap();
    let set_version = match server(world.path()) {
        Some(_) => "UPDATE store_schema SET version = ?1, compatible_from = ?1",
        None => "PRAGMA user_version = ?1",
    };
    world.raw().change_with(set_version, &[1_000]);
    let refused = Store::open(&options(world.path(), world.now)).err();
    assert!(matches!(refused, Some(StoreError::TooNew { found: 1_000, .. })), "{refused:?}");
    assert!(matches!(refused_audit(world.path()), StoreError::TooNew { .. }));
    world.raw().change_with(set_version, &[0]);
    assert!(matches!(refused_audit(world.path()), StoreError::TooOld { .. }), "an audit never migrates");
}

#[tokio::test]
async fn store_from_before_the_first_release_is_rejected_and_unchanged() {
    let world = World::new().await;
    world.send(world.sms()).await;
    world.store.close().await.unwrap();
    // What builds made, and how to take it back.
    let (table, id);
    let builds = if server(world.path()).is_some() {
        let made_by = "SELECT obj_description(to_regclass('store_schema'), 'pg_class')";
        table = format!("COMMENT ON TABLE store_schema IS '{}'", world.raw().texts(made_by)[0]);
        [
            (
                "ALTER TABLE store_schema RENAME TO schema_version",
                "ALTER TABLE schema_version RENAME TO store_schema",
            ),
            ("COMMENT ON TABLE store_schema IS NULL", table.as_str()),
            ("COMMENT ON TABLE store_schema IS 'hermod 00000000'", table.as_str()),
        ]
    } else {
        let made_by = world.raw().number("SELECT application_id FROM pragma_application_id");
        id = format!("PRAGMA application_id = {made_by}; PRAGMA user_version = 1");
        [
            ("PRAGMA application_id = 0; PRAGMA user_version = 24", id.as_str()),
            ("PRAGMA application_id = 1215458660", id.as_str()),
            ("PRAGMA application_id = 7", id.as_str()),
        ]
    };
    for (build, take_back) in builds {
        world.raw().change(build);
        let tables = world.raw().tables_with("");
        let refused = Store::open(&options(world.path(), world.now)).err().expect("refused");
        assert!(matches!(refused, StoreError::BeforeFirstRelease(_)), "{build}: {refused}");
        let sentence = "was made by a build from before the first release";
        assert!(refused.to_string().contains(sentence), "{refused}");
        assert_eq!(world.raw().tables_with(""), tables);
        assert!(matches!(refused_audit(world.path()), StoreError::BeforeFirstRelease(_)));
        world.raw().change(take_back);
    }
    let opened = Store::open(&options(world.path(), world.now)).expect("nothing else was changed");
    assert_eq!(opened.money().balance(ALICE).await.unwrap().balance.as_micros(), 1_000_000_000 - PRICE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_of_an_open_store_passes_the_audit_and_has_the_same_balances() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let world = World::new().await;
    let link = world.link_with_slots(1_000).await;
    let store = world.store.clone();
    let acceptance = Acceptance { parts: 2, ..world.sms() };
    let mut sending = tokio::task::JoinSet::new();
    sending.spawn(async move {
        loop {
            store.accept(acceptance.clone()).await.expect("the store answers");
        }
    });
    let mut taken = 0;
    while taken < 200 {
        taken += link.take_handout().await.jobs.len();
    }
    let elsewhere = tempfile::TempDir::new().unwrap();
    let copy = elsewhere.path().join("hermod.db");
    world.store.copy_to(&copy, noon).await.unwrap();
    sending.shutdown().await;

    assert_audit_clean(elsewhere.path());
    let restored = Store::open(&options(elsewhere.path(), world.now)).expect("a backup opens");
    let report = crate::world::audit(elsewhere.path());
    assert!(report.messages >= 100);
    let expected = 1_000_000_000 - i64::try_from(report.messages).unwrap() * PRICE;
    assert_eq!(restored.money().balance(ALICE).await.unwrap().balance.as_micros(), expected);
    let again = world.store.copy_to(&copy, noon).await;
    assert!(matches!(again, Err(StoreError::File { .. })), "a backup never overwrites: {again:?}");
    assert!(copy.exists(), "the existing file is kept");
    let beside = Store::backup(world.path(), &elsewhere.path().join("x"), noon());
    assert!(
        matches!(beside, Err(StoreError::InUse(_))),
        "a folder in use is not copied directly: {beside:?}"
    );
    assert!(matches!(
        Store::backup(&elsewhere.path().join("nowhere"), &elsewhere.path().join("x"), noon()),
        Err(StoreError::File { .. })
    ));
    world.flush().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn carrier_id_tables_of_old_days_are_dropped() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    world.send(world.sms()).await;
    link.accept(&link.take_job().await, "old").await;
    link.receipt("old", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let tables = |world: &World| world.raw().tables_with("remote_").len();
    assert_eq!(tables(&world), 1);
    world.now = world.now.plus(Duration::from_secs(10 * 86_400));
    world.purge_all().await;
    assert_eq!(tables(&world), 0);
    link.receipt("old", DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn data_files_are_readable_by_their_owner_only() {
    if on_postgres("files of the embedded store") {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await;
    world.send(world.sms()).await;
    let copy = world.path().join("copy.db");
    world.store.copy_to(&copy, noon).await.unwrap();
    for name in ["hermod.db", "hermod.db-wal", "hermod.db-shm", "hermod.lock", "copy.db"] {
        let mode = std::fs::metadata(world.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
