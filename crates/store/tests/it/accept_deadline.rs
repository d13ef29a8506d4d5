//! Acceptance with a deadline: a timed-out request was certainly not carried out; a started one returns its outcome.

use crate::world::within;
use crate::world::*;
use hermod_store::{AcceptOutcome, Acceptance, StoreError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Locks the database, so that the writer cannot begin.
async fn lock_database(world: &World) -> Lock {
    let lock = world.raw().lock();
    if server(world.path()).is_some() {
        // A batch begins here and not at the server: an earlier one that cannot be committed holds up the writer.
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'writer'::regclass";
        let is_held_up = async {
            while world.raw().number(waits) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = world.pay_in(BOB, 1) => panic!("it was committed"),
            () = is_held_up => {}
        }
    }
    lock
}

#[tokio::test]
async fn acceptance_timed_out_before_it_began_is_never_carried_out() {
    let world = World::new().await;
    let other = lock_database(&world).await;
    let keyed = Acceptance { key: Some(key(1)), ..world.sms() };
    for _ in 0..3 {
        let outcome = world.store.accept_with_deadline(keyed.clone(), std::future::ready(())).await;
        assert!(matches!(outcome, Err(StoreError::QueueTimeout)), "{outcome:?}");
    }
    drop(other);
    world.flush().await;
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None, "the key is free");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000);
    assert_eq!(crate::world::audit(world.path()).messages, 0);
    world.send(keyed).await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn acceptance_within_its_deadline_returns_when_the_writer_continues() {
    let world = World::new().await;
    let other = lock_database(&world).await;
    let (gives_up, waited) = oneshot::channel::<()>();
    let store = world.store.clone();
    let acceptance = world.sms();
    let sending = async move { store.accept_with_deadline(acceptance, async { drop(waited.await) }).await };
    let (outcome, ()) = tokio::join!(sending, async {
        tokio::task::yield_now().await;
        drop(other);
        world.flush().await;
        // Too late: the acceptance is written.
        let _ = gives_up.send(());
    });
    assert!(matches!(outcome, Ok(AcceptOutcome::Accepted { .. })), "{outcome:?}");
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_acceptances_with_random_deadlines_charge_exactly_those_that_did_not_time_out() {
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
    for (number, outcome) in sending.join_all().await {
        world.flush().await;
        let known = world.store.find_key(key(number)).await.unwrap();
        match outcome {
            Ok(AcceptOutcome::Accepted { message, .. }) => {
                accepted += 1;
                assert_eq!(known.map(|replay| replay.message), Some(message));
            }
            Err(StoreError::QueueTimeout) => {
                assert_eq!(known, None, "request {number} timed out but was carried out")
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - accepted * PRICE);
    world.assert_audit_clean();
}
