//! The follower writes what was committed, resumes after a restart, and catches up after a crash.

use super::{agrees, number, record_of};
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;

#[tokio::test]
async fn message_that_ends_between_two_flushes_is_written_once() {
    let world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.accept(&job, "id-1").await;
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.store.record().flush().await.unwrap();
    let record = record_of(&world);
    let of_message =
        |what: &str| number(&record, &format!("SELECT {what} FROM message WHERE id = {}", message.as_i64()));
    assert_eq!((of_message("state"), of_message("code"), of_message("cost")), (3, 2, PRICE));
    assert_eq!(number(&record, "SELECT messages FROM position"), 1);
    assert_eq!(number(&record, "SELECT count(*) FROM key"), 2, "its recipient and the carrier's id");
    assert_eq!(number(&record, "SELECT count(*) FROM by_account"), 1);
    assert_eq!(world.store.record().status().catching_up, 0);
    agrees(&world).await;
}

#[tokio::test]
async fn restart_resumes_where_the_record_was() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    world.send(world.sms()).await;
    let job = link.take_job().await;
    link.accept(&job, "id-1").await;
    world.restart().await;
    let record = record_of(&world);
    assert_eq!(number(&record, "SELECT count(*) FROM message WHERE settled_ms IS NULL AND state = 1"), 1);
    let link = world.link_with_slots(1).await;
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    world.flush().await;
    agrees(&world).await;
    assert_eq!(number(&record, "SELECT messages FROM position"), 1, "nothing was walked again");
}

#[tokio::test]
async fn record_catches_up_after_a_kill() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(3).await;
    world.send(world.sms()).await;
    let job = link.take_job().await;
    link.accept(&job, "id-1").await;
    world.flush().await;
    agrees(&world).await;
    // Killed before the next flush of the follower: the record has neither the end nor the second message.
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    world.send(world.sms()).await;
    world.flush().await;
    world.kill();
    agrees(&world).await;
    assert_eq!(number(&record_of(&world), "SELECT count(*) FROM message WHERE state = 3"), 1);
}

#[tokio::test]
async fn record_is_made_again_if_its_file_is_damaged_or_deleted() {
    let mut world = World::with_record().await;
    for _ in 0..3 {
        world.send(world.sms()).await;
    }
    world.store.close().await.unwrap();
    std::fs::write(world.path().join("record.db"), [7; 8192]).unwrap();
    world.reopen();
    agrees(&world).await;
    assert!(world.path().join("record.db.unusable").exists());
    world.store.close().await.unwrap();
    std::fs::remove_file(world.path().join("record.db")).unwrap();
    world.reopen();
    agrees(&world).await;
    world.store.record().rebuild().await.unwrap();
    agrees(&world).await;
    assert_eq!(world.store.record().status().catching_up, 0);
    assert!(world.store.record().status().lag < PATIENCE);
}

#[tokio::test]
async fn store_without_a_record_has_no_file_for_it() {
    let world = World::new().await;
    world.send(world.sms()).await;
    assert!(!world.path().join("record.db").exists());
    assert!(world.store.record().status().is_off);
    assert!(world.store.record().flush().await.is_err());
}
