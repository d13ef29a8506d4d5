//! Charged once, refunded only what never left, and never below what is there.

use crate::scenario::Scenario;
use hermod_simulator::carrier::Script;
use std::time::Duration;

#[tokio::test]
async fn the_same_key_sends_and_charges_once_even_after_a_restart() {
    let mut s = Scenario::with(Script::new()).await;
    let first = s.alice.sends_with_key("+4915112345678", "once", "order-1").await.accepted();
    let again = s.alice.sends_with_key("+4915112345678", "once", "order-1").await;
    assert_eq!((again.status, again.body["status"].as_str()), (200, Some("duplicate")));
    assert_eq!(again.body["message_id"], first);
    assert!(!again.headers.contains_key("idempotency-mismatch"));
    s.restart().await;
    let later = s.alice.sends_with_key("+4915112345678", "something else", "order-1").await;
    assert_eq!((later.status, later.headers["idempotency-mismatch"].as_str()), (200, "true"));
    s.alice.sees(&first).becomes("delivered").await;
    s.alice.has("99.95").await;
    s.carrier_received_once("once");
    s.end().await;
}

#[tokio::test]
async fn two_hundred_at_once_against_a_balance_for_ten_are_ten() {
    let s = Scenario::with(Script::new()).await;
    let mut sends = tokio::task::JoinSet::new();
    for n in 0..200 {
        let carol = s.carol.clone();
        sends.spawn(async move { carol.sends("+4915112345678", &format!("race {n}")).await.status });
    }
    let statuses = sends.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 10);
    assert_eq!(statuses.iter().filter(|status| **status == 402).count(), 190);
    s.carol.has("0").await;
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn a_retry_of_an_accepted_send_is_a_replay_even_when_the_money_is_gone() {
    let s = Scenario::with(Script::new()).await;
    for n in 0..10 {
        s.carol.sends_with_key("+4915112345678", "spend", &format!("key-{n}")).await.accepted();
    }
    assert_eq!(s.carol.sends_with_key("+4915112345678", "spend", "key-10").await.status, 402);
    assert_eq!(s.carol.sends_with_key("+4915112345678", "spend", "key-3").await.status, 200);
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn what_never_left_expires_and_is_refunded() {
    let s = Scenario::without_carrier().await;
    let message = s.alice.sends("+4915112345678", "too late").await.accepted();
    s.alice.has("99.95").await;
    s.advance(Duration::from_secs(73 * 3600)).await;
    s.alice.sees(&message).becomes("expired").await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "EXPIRED");
    s.alice.has("100").await;
    s.end().await;
}

#[tokio::test]
async fn a_refused_message_costs_nothing_and_leaves_nothing() {
    let s = Scenario::with(Script::new()).await;
    assert_eq!(s.alice.sends("+1", "bad number").await.status, 400);
    assert_eq!(s.alice.sends("+77012345678", "no price there").await.status, 422);
    s.alice.has("100").await;
    s.carrier_received_nothing();
    s.end().await;
}
