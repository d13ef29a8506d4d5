//! Charging: once per message, refunds only for messages that were never sent, no overdraft.

use crate::scenario::Scenario;
use hermod_simulator::carrier::Script;
use std::time::Duration;

#[tokio::test]
async fn same_idempotency_key_sends_and_charges_once_over_a_restart() {
    let mut s = Scenario::with(Script::new()).await;
    let first = s.alice.send_with_key("+4915112345678", "once", "order-1").await.accepted();
    let again = s.alice.send_with_key("+4915112345678", "once", "order-1").await;
    assert_eq!((again.status, again.body["status"].as_str()), (200, Some("duplicate")));
    assert_eq!(again.body["message_id"], first);
    assert!(!again.headers.contains_key("idempotency-mismatch"));
    s.restart().await;
    let later = s.alice.send_with_key("+4915112345678", "something else", "order-1").await;
    assert_eq!((later.status, later.headers["idempotency-mismatch"].as_str()), (200, "true"));
    s.alice.status_of(&first).becomes("delivered").await;
    s.alice.assert_balance("99.95").await;
    s.assert_carrier_received_once("once");
    s.end().await;
}

#[tokio::test]
async fn two_hundred_concurrent_sends_against_a_balance_for_ten_accept_ten() {
    let s = Scenario::with(Script::new()).await;
    let mut sends = tokio::task::JoinSet::new();
    for n in 0..200 {
        let carol = s.carol.clone();
        sends.spawn(async move { carol.send("+4915112345678", &format!("race {n}")).await.status });
    }
    let statuses = sends.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 10);
    assert_eq!(statuses.iter().filter(|status| **status == 402).count(), 190);
    s.carol.assert_balance("0").await;
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn retry_of_an_accepted_send_is_a_replay_with_an_empty_balance() {
    let s = Scenario::with(Script::new()).await;
    for n in 0..10 {
        s.carol.send_with_key("+4915112345678", "spend", &format!("key-{n}")).await.accepted();
    }
    assert_eq!(s.carol.send_with_key("+4915112345678", "spend", "key-10").await.status, 402);
    assert_eq!(s.carol.send_with_key("+4915112345678", "spend", "key-3").await.status, 200);
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn message_that_was_never_sent_expires_and_is_refunded() {
    let s = Scenario::without_carrier().await;
    let message = s.alice.send("+4915112345678", "too late").await.accepted();
    s.alice.assert_balance("99.95").await;
    s.advance(Duration::from_secs(73 * 3600)).await;
    // Again: the task that looks for such messages may not have been waiting yet.
    s.advance_until(Duration::from_secs(60), || s.alice.status_of(&message).becomes("expired")).await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "EXPIRED");
    s.alice.assert_balance("100").await;
    s.end().await;
}

#[tokio::test]
async fn rejected_message_is_not_charged_or_stored() {
    let s = Scenario::with(Script::new()).await;
    assert_eq!(s.alice.send("+1", "bad number").await.status, 400);
    assert_eq!(s.alice.send("+77012345678", "no price there").await.status, 422);
    s.alice.assert_balance("100").await;
    s.assert_carrier_received_nothing();
    s.end().await;
}
