//! Acceptance: charging, idempotency keys, credit limits and concurrent requests.

use crate::world::*;
use hermod_domain::money::Money;
use hermod_store::{AcceptOutcome, Acceptance, Duplicate, StoreError};
use std::collections::HashSet;
use tokio::task::JoinSet;

/// Accepts all of them concurrently, so that they share batches. The outcomes are in no particular order.
pub(crate) async fn accept_concurrently(world: &World, acceptances: Vec<Acceptance>) -> Vec<AcceptOutcome> {
    let mut sending = JoinSet::new();
    for acceptance in acceptances {
        let store = world.store.clone();
        sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
    }
    sending.join_all().await
}

#[tokio::test]
async fn accepted_message_is_charged_once_and_the_outcome_has_the_remaining_balance() {
    let world = World::with_credit(1_000_000).await;
    for sent in 1..=3 {
        let outcome = world.store.accept(world.sms()).await.unwrap();
        let AcceptOutcome::Accepted { balance, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(balance.as_micros(), 1_000_000 - sent * PRICE);
        assert_eq!(world.balance(ALICE).await, balance.as_micros());
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn accepted_message_reads_back_as_it_was_sent() {
    let world = World::new().await;
    let message = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    let record = world.record(message).await;
    assert_eq!((record.id, record.account, record.carrier), (message, ALICE, ACME));
    assert_eq!((record.from.as_str(), record.to.digits().as_str()), ("Hermod", "4915112345678"));
    assert_eq!((record.parts, record.cost.as_micros(), record.settled_at), (3, PRICE, None));
    assert_eq!(message.accepted_at(), world.now);
    assert_eq!(
        world.store.messages().find(BOB, message).await.unwrap(),
        None,
        "another account cannot read it"
    );
}

#[tokio::test]
async fn message_without_sufficient_credit_is_refused_and_leaves_no_rows() {
    let world = World::with_credit(PRICE - 1).await;
    let outcome = world.store.accept(Acceptance { key: Some(key(1)), ..world.sms() }).await.unwrap();
    assert_eq!(outcome, AcceptOutcome::InsufficientCredit { available: Money::from_micros(PRICE - 1) });
    assert_eq!(world.balance(ALICE).await, PRICE - 1);
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None, "the key can be used again");
    for table in ["message", "part", "timeline"] {
        let rows: i64 = world.raw().number(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(rows, 0, "{table}");
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn credit_limit_and_minimum_balance_move_the_floor() {
    let cases = [
        // (paid in, credit limit, minimum balance, accepted messages)
        (PRICE, 0, 0, true),
        (PRICE, 0, 1, false),
        (0, PRICE, 0, true),
        (0, PRICE - 1, 0, false),
        (PRICE, PRICE, PRICE, true),
        (-PRICE, 3 * PRICE, PRICE, true),
        (-PRICE, 3 * PRICE, PRICE + 1, false),
    ];
    for (paid, limit, minimum, accepted) in cases {
        let world = World::with_credit(paid).await;
        let acceptance = Acceptance {
            credit_limit: Money::from_micros(limit),
            minimum: Money::from_micros(minimum),
            ..world.sms()
        };
        let outcome = world.store.accept(acceptance).await.unwrap();
        let is_accepted = matches!(outcome, AcceptOutcome::Accepted { .. });
        assert_eq!(is_accepted, accepted, "paid {paid} limit {limit} minimum {minimum}: {outcome:?}");
        if !accepted {
            let available = Money::from_micros(paid + limit - minimum);
            assert_eq!(
                outcome,
                AcceptOutcome::InsufficientCredit { available },
                "the outcome has the available credit"
            );
        }
    }
}

#[tokio::test]
async fn two_hundred_concurrent_messages_against_a_balance_for_ten_accept_exactly_ten() {
    let world = World::with_credit(10 * PRICE).await;
    world.pay_in(BOB, 1_000 * PRICE).await;
    let mut all = vec![world.sms(); 200];
    // Another account with enough credit sends in the same batches.
    all.extend(vec![Acceptance { account: BOB, ..world.sms() }; 50]);
    let outcomes = accept_concurrently(&world, all).await;
    let refused = |outcome: &&AcceptOutcome| matches!(outcome, AcceptOutcome::InsufficientCredit { .. });
    assert_eq!(outcomes.iter().filter(refused).count(), 190);
    assert_eq!((world.balance(ALICE).await, world.balance(BOB).await), (0, 950 * PRICE));
    let balances: HashSet<i64> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            AcceptOutcome::Accepted { balance, .. } if balance.as_micros() < 10 * PRICE => {
                Some(balance.as_micros())
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        balances,
        (0..10).map(|n| n * PRICE).collect(),
        "each outcome has the balance after its own charge"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn same_key_in_fifty_concurrent_requests_makes_one_message() {
    let world = World::new().await;
    let outcomes =
        accept_concurrently(&world, vec![Acceptance { key: Some(key(1)), ..world.sms() }; 50]).await;
    let mut messages = HashSet::new();
    let mut replays = 0;
    for outcome in outcomes {
        match outcome {
            AcceptOutcome::Accepted { message, .. } => messages.insert(message),
            AcceptOutcome::Duplicate(Duplicate { message, is_same_request: true }) => {
                replays += 1;
                messages.insert(message)
            }
            other => panic!("{other:?}"),
        };
    }
    assert_eq!((messages.len(), replays), (1, 49));
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn replay_with_an_empty_balance_succeeds_and_says_whether_the_request_differs() {
    let mut world = World::with_credit(PRICE).await;
    let message = world.send(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    let other_body = hermod_store::KeyClaim { fingerprint: 77, ..key(1) };
    for days in [0, 1, 5] {
        world.now = noon().plus(secs(days * 86_400));
        for (claim, is_same_request) in [(key(1), true), (other_body, false)] {
            let outcome = world.store.accept(Acceptance { key: Some(claim), ..world.sms() }).await.unwrap();
            assert_eq!(
                outcome,
                AcceptOutcome::Duplicate(Duplicate { message, is_same_request }),
                "after {days} days"
            );
            let found = world.store.find_key(claim).await.unwrap();
            assert_eq!(found, Some(Duplicate { message, is_same_request }));
        }
    }
    assert_eq!(world.balance(ALICE).await, 0);
}

#[tokio::test]
async fn keys_of_earlier_days_are_found_after_daily_work_and_restart() {
    let mut world = World::new().await;
    let mut messages = Vec::new();
    for day in 0..4 {
        world.now = noon().plus(secs(day * 86_400));
        messages.push(world.send(Acceptance { key: Some(key(day)), ..world.sms() }).await);
        world.store.delete_expired(world.now).await.unwrap();
        world.store.merge_keys().await.unwrap();
    }
    for _ in 0..2 {
        for (number, message) in (0..).zip(&messages) {
            let outcome =
                world.store.accept(Acceptance { key: Some(key(number)), ..world.sms() }).await.unwrap();
            assert_eq!(
                outcome,
                AcceptOutcome::Duplicate(Duplicate { message: *message, is_same_request: true })
            );
        }
        world.restart().await;
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn closed_store_returns_closed_error() {
    let world = World::new().await;
    world.store.close().await.unwrap();
    assert!(matches!(world.store.accept(world.sms()).await, Err(StoreError::Closed)));
    assert!(matches!(world.store.money().balance(ALICE).await, Err(StoreError::Closed)));
    assert!(matches!(world.store.close().await, Err(StoreError::Closed)));
}
