//! When nobody is there to take them, messages wait in order; when we go away ourselves, nothing changes.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{Outcome, Script};
use std::time::Duration;

const RECONNECT: Duration = Duration::from_secs(61);

#[tokio::test]
async fn messages_wait_for_a_carrier_that_is_away_and_leave_in_order() {
    let mut s = Scenario::without_carrier().await;
    let texts: Vec<String> = (0..50).map(|n| format!("waiting {n:02}")).collect();
    let mut last = String::new();
    for text in &texts {
        last = s.alice.sends("+4915112345678", text).await.accepted();
    }
    s.alice.sees(&last).is("queued").await;
    s.carrier_comes_back(Script::new()).await;
    s.stepping(RECONNECT, || s.alice.sees(&last).becomes("delivered")).await;
    assert_eq!(s.carrier_texts(), texts);
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn a_restart_changes_nothing() {
    let mut s = Scenario::with(Script::new().no_receipts()).await;
    let sent = s.alice.sends("+4915112345678", "before").await.accepted();
    s.alice.sees(&sent).becomes("submitted").await;
    s.restart().await;
    s.alice.sees(&sent).is("submitted").await;
    s.alice.has("99.95").await;
    s.carrier_does(Script::new().receipt_after(Duration::ZERO, Outcome::Delivered));
    let after = s.alice.sends("+4915112345678", "after").await.accepted();
    s.alice.sees(&after).becomes("delivered").await;
    s.carrier_received_once("before");
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn a_receipt_that_was_due_during_a_restart_is_not_lost() {
    let mut s =
        Scenario::with(Script::new().receipt_after(Duration::from_millis(300), Outcome::Delivered)).await;
    let message = s.alice.sends("+4915112345678", "patience").await.accepted();
    s.alice.sees(&message).becomes("submitted").await;
    s.restart().await;
    s.alice.sees(&message).becomes("delivered").await;
    s.end().await;
}

#[tokio::test]
async fn stopping_waits_for_the_answers_to_what_was_sent() {
    let mut s = Scenario::with(Script::new().delay(Duration::from_millis(300))).await;
    let mut messages = Vec::new();
    for n in 0..10 {
        messages.push(s.alice.sends("+4915112345678", &format!("drain {n}")).await.accepted());
    }
    s.carrier_has_seen_submits(10).await;
    s.restart().await;
    for message in &messages {
        s.alice.sees(message).becomes("delivered").await;
    }
    assert_eq!(s.resends().await, 0, "nothing was in doubt");
    s.carrier_saw_submits(10);
    s.end().await;
}
