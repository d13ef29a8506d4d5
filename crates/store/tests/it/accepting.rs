//! Accepting and charging: once, in order, and alone.

use crate::world::*;
use hermod_domain::money::Money;
use hermod_store::{AcceptOutcome, Acceptance, Duplicate, StoreError};
use std::collections::HashSet;
use tokio::task::JoinSet;

/// All at once, so that they share batches; the outcomes in no particular order.
pub(crate) async fn all_at_once(world: &World, acceptances: Vec<Acceptance>) -> Vec<AcceptOutcome> {
    let mut sending = JoinSet::new();
    for acceptance in acceptances {
        let store = world.store.clone();
        sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
    }
    sending.join_all().await
}

#[tokio::test]
async fn a_message_is_charged_once_and_the_answer_says_what_is_left() {
    let world = World::with_credit(1_000_000).await;
    for sent in 1..=3 {
        let outcome = world.store.accept(world.sms()).await.unwrap();
        let AcceptOutcome::Accepted { balance, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(balance.as_micros(), 1_000_000 - sent * PRICE);
        assert_eq!(world.balance(ALICE).await, balance.as_micros());
    }
    world.books_are_sound();
}

#[tokio::test]
async fn the_message_reads_back_as_it_was_sent() {
    let world = World::new().await;
    let message = world.sends(Acceptance { parts: 3, ..world.sms() }).await;
    let record = world.sees(message).await;
    assert_eq!((record.id, record.account, record.carrier), (message, ALICE, ACME));
    assert_eq!((record.from.as_str(), record.to.digits().as_str()), ("Hermod", "4915112345678"));
    assert_eq!((record.parts, record.cost.as_micros(), record.settled_at), (3, PRICE, None));
    assert_eq!(message.accepted_at(), world.now);
    assert_eq!(world.store.message(BOB, message).await.unwrap(), None, "another account's is not shown");
}

#[tokio::test]
async fn who_cannot_pay_is_refused_and_nothing_is_left_behind() {
    let world = World::with_credit(PRICE - 1).await;
    let outcome = world.store.accept(Acceptance { key: Some(key(1)), ..world.sms() }).await.unwrap();
    assert_eq!(outcome, AcceptOutcome::InsufficientCredit { available: Money::from_micros(PRICE - 1) });
    assert_eq!(world.balance(ALICE).await, PRICE - 1);
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None, "the key is free for another try");
    for table in ["message", "part", "timeline"] {
        let rows: i64 =
            world.raw().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    world.books_are_sound();
}

#[tokio::test]
async fn credit_and_minimum_move_the_floor() {
    let cases = [
        // (paid in, credit limit, minimum, accepted)
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
        let told = matches!(outcome, AcceptOutcome::Accepted { .. });
        assert_eq!(told, accepted, "paid {paid} limit {limit} minimum {minimum}: {outcome:?}");
        if !accepted {
            let available = Money::from_micros(paid + limit - minimum);
            assert_eq!(outcome, AcceptOutcome::InsufficientCredit { available }, "what could be spent");
        }
    }
}

#[tokio::test]
async fn two_hundred_at_once_against_money_for_ten_accept_exactly_ten() {
    let world = World::with_credit(10 * PRICE).await;
    world.pays_in(BOB, 1_000 * PRICE).await;
    let mut all = vec![world.sms(); 200];
    // A neighbour in the same batches who can pay.
    all.extend(vec![Acceptance { account: BOB, ..world.sms() }; 50]);
    let outcomes = all_at_once(&world, all).await;
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
    assert_eq!(balances, (0..10).map(|n| n * PRICE).collect(), "each answer shows its own charge");
    world.books_are_sound();
}

#[tokio::test]
async fn the_same_key_fifty_times_at_once_makes_one_message() {
    let world = World::new().await;
    let outcomes = all_at_once(&world, vec![Acceptance { key: Some(key(1)), ..world.sms() }; 50]).await;
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
    world.books_are_sound();
}

#[tokio::test]
async fn a_replay_wins_over_an_empty_balance_and_tells_another_request() {
    let mut world = World::with_credit(PRICE).await;
    let message = world.sends(Acceptance { key: Some(key(1)), ..world.sms() }).await;
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
async fn keys_of_days_ago_are_known_through_upkeep_and_restart() {
    let mut world = World::new().await;
    let mut messages = Vec::new();
    for day in 0..4 {
        world.now = noon().plus(secs(day * 86_400));
        messages.push(world.sends(Acceptance { key: Some(key(day)), ..world.sms() }).await);
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
        world.restarts().await;
    }
    world.books_are_sound();
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let world = World::new().await;
    world.store.close().await.unwrap();
    assert!(matches!(world.store.accept(world.sms()).await, Err(StoreError::Closed)));
    assert!(matches!(world.store.balance(ALICE).await, Err(StoreError::Closed)));
    assert!(matches!(world.store.close().await, Err(StoreError::Closed)));
}
