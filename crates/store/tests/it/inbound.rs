//! Messages that came in: each account's numbered from 1 without gaps, whoever reads meanwhile.

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
    let page = world.store.inbound(account, since, limit).await.expect("the store answers");
    page.iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn each_account_counts_its_own_from_one() {
    let mut world = World::new().await;
    let mut alices = Vec::new();
    for text in ["one", "", "three", "four"] {
        alices.push(world.store.receive(from_handset(&world, ALICE, text)).await.unwrap());
        world.restarts().await;
    }
    let bobs = world.store.receive(from_handset(&world, BOB, "hi")).await.unwrap();
    assert_eq!(alices.iter().map(|record| record.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(bobs.id, 1);
    assert_eq!(world.store.inbound(ALICE, 0, 10).await.unwrap(), alices);
    let InboundRecord { from, to, text, received_at, message, .. } = alices[2].clone();
    assert_eq!((from.as_str(), to.as_str(), text.as_str()), ("+4915112345678", "12345", "three"));
    assert_eq!((received_at, message.accepted_at().day()), (world.now, world.now.day()));
    assert_eq!(world.store.message(ALICE, message).await.unwrap(), None, "it is not a message that was sent");

    assert_eq!(ids(&world, ALICE, 2, 10).await, [3, 4]);
    assert_eq!(ids(&world, ALICE, 1, 2).await, [2, 3]);
    assert_eq!(ids(&world, ALICE, 4, 10).await, []);
    assert_eq!(ids(&world, ALICE, u64::MAX, 10).await, []);
    assert_eq!(ids(&world, AccountId::new(99), 0, 10).await, []);
    world.books_are_sound();
}

#[tokio::test]
async fn ids_of_what_comes_in_and_what_goes_out_are_never_the_same() {
    let mut world = World::new().await;
    let mut seen = HashSet::new();
    for _ in 0..5 {
        assert!(seen.insert(world.store.receive(from_handset(&world, ALICE, "in")).await.unwrap().message));
        // Back in time and started anew: the mint must know the ids of both.
        world.now = world.now.minus(secs(1));
        world.restarts().await;
        assert!(seen.insert(world.sends(world.sms()).await));
        world.restarts().await;
    }
    world.books_are_sound();
}

#[tokio::test]
async fn the_numbers_go_on_when_old_messages_are_gone() {
    let mut world = World::new().await;
    for _ in 0..3 {
        world.store.receive(from_handset(&world, ALICE, "in")).await.unwrap();
    }
    world.raw().execute("DELETE FROM inbound WHERE id <= 2", []).unwrap();
    world.books_are_sound();
    world.raw().execute("DELETE FROM inbound", []).unwrap();
    world.restarts().await;
    assert_eq!(world.store.receive(from_handset(&world, ALICE, "in")).await.unwrap().id, 4);
    assert_eq!(ids(&world, ALICE, 0, 10).await, [4]);
    world.books_are_sound();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poller_beside_many_writers_sees_every_number_once_and_in_order() {
    const MESSAGES: usize = 400;
    let world = World::new().await;
    let mut receiving = tokio::task::JoinSet::new();
    for _ in 0..MESSAGES {
        let (store, inbound) = (world.store.clone(), from_handset(&world, ALICE, "in"));
        receiving.spawn(async move { store.receive(inbound).await.expect("the store answers") });
    }
    let mut polled = Vec::new();
    while polled.len() < MESSAGES {
        polled.extend(ids(&world, ALICE, polled.last().copied().unwrap_or(0), 7).await);
    }
    assert_eq!(polled, (1..=u64::try_from(MESSAGES).unwrap()).collect::<Vec<_>>());
    receiving.join_all().await;
    world.books_are_sound();
}

#[tokio::test]
async fn neither_text_nor_handset_is_printed() {
    let world = World::new().await;
    let inbound = Inbound { from: "SECRET".to_owned(), ..from_handset(&world, ALICE, "SECRET") };
    let record = world.store.receive(inbound.clone()).await.unwrap();
    let printed = format!("{inbound:?} {record:?}");
    assert!(printed.contains("(6 bytes)") && !printed.contains("SECRET"), "{printed}");
}
