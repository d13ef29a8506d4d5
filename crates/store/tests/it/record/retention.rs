//! The record deletes what is past its retention, and erases numbers as the store does.

use super::isolation::refused_request;
use super::{number, record_of};
use crate::retention::KEEP;
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_store::Retention;
use hermod_store::record::{MessageFilter, RecipientFilter, Scope, SearchLimits};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// Sends a message that is delivered.
async fn deliver(world: &World, id: &str) {
    let link = world.link_with_slots(1).await;
    world.send(world.sms()).await;
    let job = link.take_job().await;
    link.accept(&job, id).await;
    link.receipt(id, DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.store.record().flush().await.expect("the record answers");
}

async fn found(world: &World) -> usize {
    let filter =
        MessageFilter { recipient: Some(RecipientFilter::Exact(recipient())), ..MessageFilter::default() };
    let limits = SearchLimits { before: None, rows: 10 };
    world
        .store
        .record()
        .search_messages(Scope::All, filter, limits)
        .await
        .expect("the record answers")
        .rows
        .len()
}

#[tokio::test]
async fn messages_keys_and_figures_are_deleted_after_their_retention() {
    let world = World::with_record().await;
    deliver(&world, "id-1").await;
    assert_eq!(found(&world).await, 1);
    let days = [30, 400, 400, 400, 400].map(|days| days * DAY);
    let [text, messages, idempotency_keys, inbound, requests] = days;
    let keep = Retention { text, messages, idempotency_keys, inbound, requests };
    let later = world.now.plus(401 * DAY);
    let record = record_of(&world);
    for _ in 0..20 {
        while !world.store.purge(keep, later).await.expect("the record answers").is_nothing() {}
        world.store.record().flush().await.expect("the record answers");
    }
    for table in ["message", "by_account", "key", "chunk", "statistic"] {
        assert_eq!(number(&record, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(found(&world).await, 0);
}

#[tokio::test]
async fn request_log_has_a_retention_of_its_own() {
    let world = World::with_record().await;
    deliver(&world, "id-1").await;
    world.store.record().note_request(refused_request(ALICE));
    world.store.record().flush().await.expect("the record answers");
    let record = record_of(&world);
    let keep = Retention { requests: 2 * DAY, ..KEEP };
    for (days, left) in [(1, 1), (3, 0)] {
        world.store.record().purge(keep, world.now.plus(days * DAY));
        for _ in 0..20 {
            world.store.record().flush().await.expect("the record answers");
        }
        assert_eq!(number(&record, "SELECT count(*) FROM request"), left, "after {days} days");
    }
    assert_eq!(found(&world).await, 1);
}

#[tokio::test]
async fn number_is_erased_in_ended_messages_and_not_found_again() {
    let world = World::with_record().await;
    deliver(&world, "id-1").await;
    let link = world.link_with_slots(1).await;
    world.send(world.sms()).await;
    let open = link.take_job().await;
    assert_eq!(found(&world).await, 1, "the second one is not in the record yet");
    world.store.erasures().erase_number(recipient(), None, world.now).await.expect("the record answers");
    assert_eq!(found(&world).await, 1, "only the open one");
    let page = world.store.record().search_messages(
        Scope::All,
        MessageFilter::default(),
        SearchLimits { before: None, rows: 10 },
    );
    let numbers: Vec<_> =
        page.await.expect("the record answers").rows.into_iter().map(|row| row.to).collect();
    assert_eq!(numbers, [Some(open.to), None]);
    let digits = recipient().number().cast_signed();
    let record = record_of(&world);
    assert_eq!(number(&record, &format!("SELECT count(*) FROM message WHERE recipient = {digits}")), 1);
}

#[tokio::test]
async fn number_is_erased_in_a_record_that_is_switched_off() {
    let mut world = World::with_record().await;
    deliver(&world, "id-1").await;
    world.store.close().await.expect("the record answers");
    world.store = hermod_store::Store::open(&options(world.path(), world.now)).expect("the record answers");
    world.store.erasures().erase_number(recipient(), None, world.now).await.expect("the record answers");
    let digits = recipient().number().cast_signed();
    let record = record_of(&world);
    assert_eq!(number(&record, &format!("SELECT count(*) FROM message WHERE recipient = {digits}")), 0);
    assert_eq!(number(&record, "SELECT count(*) FROM key WHERE kind = 1"), 0);
}
