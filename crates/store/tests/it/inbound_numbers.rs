//! Inbound messages: numbered from 1 per account without gaps, also beside concurrent readers.

use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_store::{Inbound, InboundRecord};
use std::collections::HashSet;

fn from_handset(world: &World, account: AccountId, text: &str) -> Inbound {
    Inbound {
        account,
        from: "+4915112345678".to_owned(),
        to: "12345".to_owned(),
        text: text.to_owned(),
        received_at: world.now,
    }
}

async fn ids(world: &World, account: AccountId, since: u64, limit: u32) -> Vec<u64> {
    let page = world.store.inbound().list(account, since, limit).await.expect("the store answers");
    page.iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn inbound_messages_are_numbered_from_one_per_account() {
    let mut world = World::new().await;
    let mut alices = Vec::new();
    for text in ["one", "", "three", "four"] {
        alices.push(world.store.inbound().receive(from_handset(&world, ALICE, text)).await.unwrap());
        world.restart().await;
    }
    let bobs = world.store.inbound().receive(from_handset(&world, BOB, "hi")).await.unwrap();
    assert_eq!(alices.iter().map(|record| record.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(bobs.id, 1);
    assert_eq!(world.store.inbound().list(ALICE, 0, 10).await.unwrap(), alices);
    let InboundRecord { from, to, text, received_at, message, .. } = alices[2].clone();
    assert_eq!((from.as_str(), to.as_str(), text.as_str()), ("+4915112345678", "12345", "three"));
    assert_eq!((received_at, message.accepted_at().day()), (world.now, world.now.day()));
    assert_eq!(
        world.store.messages().find(ALICE, message).await.unwrap(),
        None,
        "an inbound message is not found as a sent one"
    );

    assert_eq!(ids(&world, ALICE, 2, 10).await, [3, 4]);
    assert_eq!(ids(&world, ALICE, 1, 2).await, [2, 3]);
    assert_eq!(ids(&world, ALICE, 4, 10).await, [0; 0]);
    assert_eq!(ids(&world, ALICE, u64::MAX, 10).await, [0; 0]);
    assert_eq!(ids(&world, AccountId::new(99), 0, 10).await, [0; 0]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn ids_of_inbound_and_sent_messages_are_unique_after_the_clock_is_set_back() {
    let mut world = World::new().await;
    let mut seen = HashSet::new();
    for _ in 0..5 {
        assert!(
            seen.insert(
                world.store.inbound().receive(from_handset(&world, ALICE, "in")).await.unwrap().message
            )
        );
        // The clock is set back before the restart: the id mint must know the ids of both.
        world.now = world.now.minus(secs(1));
        world.restart().await;
        assert!(seen.insert(world.send(world.sms()).await));
        world.restart().await;
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn inbound_numbers_continue_after_old_messages_are_deleted() {
    let mut world = World::new().await;
    for _ in 0..3 {
        world.store.inbound().receive(from_handset(&world, ALICE, "in")).await.unwrap();
    }
    world.raw().change("DELETE FROM inbound WHERE id <= 2");
    world.assert_audit_clean();
    world.raw().change("DELETE FROM inbound");
    world.restart().await;
    assert_eq!(world.store.inbound().receive(from_handset(&world, ALICE, "in")).await.unwrap().id, 4);
    assert_eq!(ids(&world, ALICE, 0, 10).await, [4]);
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poller_beside_many_writers_reads_every_number_once_and_in_order() {
    const MESSAGES: usize = 400;
    let world = World::new().await;
    let mut receiving = tokio::task::JoinSet::new();
    for _ in 0..MESSAGES {
        let (store, inbound) = (world.store.clone(), from_handset(&world, ALICE, "in"));
        receiving.spawn(async move { store.inbound().receive(inbound).await.expect("the store answers") });
    }
    let mut polled = Vec::new();
    while polled.len() < MESSAGES {
        polled.extend(ids(&world, ALICE, polled.last().copied().unwrap_or(0), 7).await);
    }
    assert_eq!(polled, (1..=u64::try_from(MESSAGES).unwrap()).collect::<Vec<_>>());
    receiving.join_all().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn debug_output_contains_neither_text_nor_msisdn() {
    let world = World::new().await;
    let inbound = Inbound { from: "SECRET".to_owned(), ..from_handset(&world, ALICE, "SECRET") };
    let record = world.store.inbound().receive(inbound.clone()).await.unwrap();
    let printed = format!("{inbound:?} {record:?}");
    assert!(printed.contains("(6 bytes)") && !printed.contains("SECRET"), "{printed}");
}
