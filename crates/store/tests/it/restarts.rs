//! Ending and starting again, anywhere: nothing changes, except that what was being sent is in doubt.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_store::{Acceptance, Store, StoreError, SubmitResponse};
use std::time::Duration;

#[tokio::test]
async fn a_restart_at_every_step_changes_nothing() {
    let mut world = World::new().await;
    let message = world.sends(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    world.restarts().await;
    assert_eq!(world.state(message).await, MessageState::Queued);

    let link = world.link_with_room(1).await;
    let job = link.takes_job().await;
    assert_eq!(job.message, message);
    link.accepts(&job, "id").await;
    world.restarts().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);

    world.link().await.receipt("id", Verdict::Enroute).await;
    world.restarts().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);

    world.link().await.receipt("id", Verdict::Delivered).await;
    world.settles().await;
    let before = world.sees(message).await;
    world.restarts().await;
    assert_eq!(world.sees(message).await, before);
    assert_eq!(before.state, MessageState::Delivered);
    assert_eq!(world.store.find_key(key(1)).await.unwrap().map(|replay| replay.message), Some(message));
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    world.books_are_sound();
}

#[tokio::test]
async fn a_parked_receipt_survives() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let message = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    link.receipt("early", Verdict::Delivered).await;
    world.settles().await;
    world.restarts().await;
    // The part is in doubt now; its resend gets the id the receipt was about.
    world.passes(IN_DOUBT_WAIT).await;
    let link = world.link_with_room(1).await;
    assert_eq!(link.takes_job().await.message, job.message);
    link.accepts(&job, "early").await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
}

#[tokio::test]
async fn what_was_being_sent_is_in_doubt_and_what_was_not_keeps_its_place() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(world.sends(world.sms()).await);
    }
    link.takes_jobs(2).await;
    world.restarts().await;
    assert_eq!(world.timeline(sent[0]), ["in_doubt"]);
    assert_eq!(world.timeline(sent[2]), [""; 0]);
    let link = world.link_with_room(10).await;
    let order: Vec<_> = link.takes_jobs(3).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent[2..]);
    // And again: the restart counts from its own time, and doubt is not doubled by restarting.
    world.restarts().await;
    assert_eq!(world.timeline(sent[0]), ["in_doubt"]);
    world.passes(IN_DOUBT_WAIT).await;
    let link = world.link_with_room(10).await;
    let order: Vec<_> = link.takes_jobs(5).await.iter().map(|job| job.message).collect();
    assert_eq!(order, sent);
    world.restarts().await;
    assert_eq!(Store::audit(world.path()).unwrap().resends, 5);
    for message in sent {
        assert_eq!(world.state(message).await, MessageState::Submitted, "presumed after the second doubt");
    }
    world.books_are_sound();
}

#[tokio::test]
async fn waiting_times_go_on_over_a_restart() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let retried = world.sends(world.sms()).await;
    let doubted = world.sends(world.sms()).await;
    let jobs = link.takes_jobs(2).await;
    link.says(
        vec![
            answer(&jobs[0], SubmitResponse::Temporary { status: 8, after: None }),
            answer(&jobs[1], SubmitResponse::NoResponse),
        ],
        vec![],
    )
    .await;
    world.settles().await;
    world.restarts().await;
    let link = world.link_with_room(5).await;
    world.passes(secs(4)).await;
    link.has_nothing().await;
    world.passes(secs(2)).await;
    assert_eq!(link.takes_job().await.message, retried);
    world.passes(IN_DOUBT_WAIT).await;
    assert_eq!(link.takes_job().await.message, doubted);
}

#[tokio::test]
async fn what_came_due_before_a_restart_is_still_due_after_it() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    link.answers(&link.takes_job().await, SubmitResponse::NoResponse).await;
    world.settles().await;
    // Its time is over, but no link has room.
    world.passes(IN_DOUBT_WAIT).await;
    world.restarts().await;
    let link = world.link_with_room(1).await;
    assert_eq!(link.takes_job().await.message, message);
    assert_eq!(world.timeline(message), ["in_doubt", "resent"]);
    world.books_are_sound();
}

#[tokio::test]
async fn ids_go_on_rising_even_if_the_clock_was_set_back() {
    let mut world = World::new().await;
    let before = world.sends(world.sms()).await;
    world.now = world.now.minus(secs(86_400));
    world.restarts().await;
    let after = world.sends(world.sms()).await;
    assert!(before < after);
    world.books_are_sound();
}

#[tokio::test]
async fn a_folder_serves_one_process() {
    let world = World::new().await;
    let second = Store::open(&options(world.path(), world.now));
    assert!(
        matches!(&second, Err(StoreError::InUse(folder)) if folder == world.path()),
        "{:?}",
        second.err()
    );
    world.sends(world.sms()).await;
    world.store.close().await.unwrap();
    let second = Store::open(&options(world.path(), world.now)).expect("free again");
    assert_eq!(second.balance(ALICE).await.unwrap().balance.as_micros(), 1_000_000_000 - PRICE);
}

#[tokio::test]
async fn a_store_of_a_newer_release_is_left_alone() {
    let world = World::new().await;
    world.store.close().await.unwrap();
    world.raw().pragma_update(None, "user_version", 1_000).unwrap();
    let refused = Store::open(&options(world.path(), world.now)).err();
    assert!(matches!(refused, Some(StoreError::TooNew { found: 1_000, .. })), "{refused:?}");
    assert!(matches!(Store::audit(world.path()), Err(StoreError::TooNew { .. })));
    world.raw().pragma_update(None, "user_version", 0).unwrap();
    assert!(matches!(Store::audit(world.path()), Err(StoreError::TooOld { .. })), "an audit never migrates");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_live_store_is_sound_and_has_the_same_balances() {
    let world = World::new().await;
    let link = world.link_with_room(1_000).await;
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
        taken += link.takes().await.jobs.len();
    }
    let elsewhere = tempfile::TempDir::new().unwrap();
    let copy = elsewhere.path().join("hermod.db");
    world.store.copy_to(&copy).await.unwrap();
    sending.shutdown().await;

    books_are_sound(elsewhere.path());
    let restored = Store::open(&options(elsewhere.path(), world.now)).expect("a backup opens");
    let report = Store::audit(elsewhere.path()).unwrap();
    assert!(report.messages >= 100);
    let expected = 1_000_000_000 - i64::try_from(report.messages).unwrap() * PRICE;
    assert_eq!(restored.balance(ALICE).await.unwrap().balance.as_micros(), expected);
    let again = world.store.copy_to(&copy).await;
    assert!(matches!(again, Err(StoreError::File { .. })), "a backup never overwrites: {again:?}");
    assert!(copy.exists(), "nor does it remove what it did not make");
    let beside = Store::backup(world.path(), &elsewhere.path().join("x"));
    assert!(matches!(beside, Err(StoreError::InUse(_))), "the gateway is asked instead: {beside:?}");
    assert!(matches!(
        Store::backup(&elsewhere.path().join("nowhere"), &elsewhere.path().join("x")),
        Err(StoreError::File { .. })
    ));
    world.settles().await;
    world.books_are_sound();
}

#[tokio::test]
async fn days_that_nobody_needs_are_dropped() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    world.sends(world.sms()).await;
    link.accepts(&link.takes_job().await, "old").await;
    link.receipt("old", Verdict::Delivered).await;
    world.settles().await;
    let tables = |world: &World| -> i64 {
        let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB '*remote_[0-9]*'";
        world.raw().query_row(query, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(tables(&world), 1);
    world.now = world.now.plus(Duration::from_secs(10 * 86_400));
    world.purges().await;
    assert_eq!(tables(&world), 0);
    link.receipt("old", Verdict::Delivered).await;
    world.settles().await;
    world.books_are_sound();
}

#[tokio::test]
async fn only_the_owner_may_read_the_files_messages_stand_in() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await;
    world.sends(world.sms()).await;
    let copy = world.path().join("copy.db");
    world.store.copy_to(&copy).await.unwrap();
    for name in ["hermod.db", "hermod.db-wal", "hermod.db-shm", "hermod.lock", "copy.db"] {
        let mode = std::fs::metadata(world.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
