//! A sender who does not wait for ever: what he gave up was certainly not done, what was begun he hears of.

use crate::world::within;
use crate::world::*;
use hermod_store::{AcceptOutcome, Acceptance, Store, StoreError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Somebody else has the database: the writer cannot begin.
fn hold_up(world: &World) -> rusqlite::Connection {
    let other = world.raw();
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    other
}

#[tokio::test]
async fn what_was_given_up_before_it_began_is_never_done() {
    let world = World::new().await;
    let other = hold_up(&world);
    let keyed = Acceptance { key: Some(key(1)), ..world.sms() };
    for _ in 0..3 {
        let told = world.store.accept_with_deadline(keyed.clone(), std::future::ready(())).await;
        assert!(matches!(told, Err(StoreError::QueueTimeout)), "{told:?}");
    }
    drop(other);
    world.settles().await;
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None, "the key is free");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000);
    assert_eq!(Store::audit(world.path()).unwrap().messages, 0);
    world.sends(keyed).await;
    world.books_are_sound();
}

#[tokio::test]
async fn who_waits_long_enough_is_answered_when_the_writer_can_go_on() {
    let world = World::new().await;
    let other = hold_up(&world);
    let (gives_up, waited) = oneshot::channel::<()>();
    let store = world.store.clone();
    let acceptance = world.sms();
    let sending = async move { store.accept_with_deadline(acceptance, async { drop(waited.await) }).await };
    let (told, ()) = tokio::join!(sending, async {
        tokio::task::yield_now().await;
        drop(other);
        world.settles().await;
        // Too late: it is done and answered.
        let _ = gives_up.send(());
    });
    assert!(matches!(told, Ok(AcceptOutcome::Accepted { .. })), "{told:?}");
    world.books_are_sound();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_give_up_at_any_moment_exactly_those_who_were_not_told_so_are_charged() {
    const SENDERS: u64 = 600;
    let world = World::new().await;
    let mut sending = tokio::task::JoinSet::new();
    for number in 0..SENDERS {
        let store = world.store.clone();
        let acceptance = Acceptance { key: Some(key(number)), ..world.sms() };
        sending.spawn(async move {
            let patience = within(Duration::from_micros(number * 7), std::future::pending::<()>());
            (number, store.accept_with_deadline(acceptance, async { drop(patience.await) }).await)
        });
    }
    let mut accepted = 0;
    for (number, told) in sending.join_all().await {
        world.settles().await;
        let known = world.store.find_key(key(number)).await.unwrap();
        match told {
            Ok(AcceptOutcome::Accepted { message, .. }) => {
                accepted += 1;
                assert_eq!(known.map(|replay| replay.message), Some(message));
            }
            Err(StoreError::QueueTimeout) => {
                assert_eq!(known, None, "sender {number} was told it was not done")
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - accepted * PRICE);
    world.books_are_sound();
}
