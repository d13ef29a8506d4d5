//! Messages wait in order for a disconnected carrier, and over restarts of the gateway.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{Outcome, Script};
use std::time::Duration;

const RECONNECT: Duration = Duration::from_secs(61);

#[tokio::test]
async fn messages_wait_for_a_disconnected_carrier_and_are_sent_in_order() {
    let mut s = Scenario::without_carrier().await;
    let texts: Vec<String> = (0..50).map(|n| format!("waiting {n:02}")).collect();
    let mut last = String::new();
    for text in &texts {
        last = s.alice.send("+4915112345678", text).await.accepted();
    }
    s.alice.status_of(&last).is("queued").await;
    s.start_carrier_again(Script::new()).await;
    s.advance_until(RECONNECT, || s.alice.status_of(&last).becomes("delivered")).await;
    assert_eq!(s.carrier_texts(), texts);
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn restart_keeps_submitted_messages_and_the_balance() {
    let mut s = Scenario::with(Script::new().no_receipts()).await;
    let sent = s.alice.send("+4915112345678", "before").await.accepted();
    s.alice.status_of(&sent).becomes("submitted").await;
    s.restart().await;
    s.alice.status_of(&sent).is("submitted").await;
    s.alice.assert_balance("99.95").await;
    s.set_carrier_script(Script::new().receipt_after(Duration::ZERO, Outcome::Delivered));
    let after = s.alice.send("+4915112345678", "after").await.accepted();
    s.alice.status_of(&after).becomes("delivered").await;
    s.assert_carrier_received_once("before");
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn receipt_due_during_a_restart_is_not_lost() {
    let mut s =
        Scenario::with(Script::new().receipt_after(Duration::from_millis(300), Outcome::Delivered)).await;
    let message = s.alice.send("+4915112345678", "patience").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.restart().await;
    s.alice.status_of(&message).becomes("delivered").await;
    s.end().await;
}

#[tokio::test]
async fn stopping_gateway_waits_for_responses_to_its_submits() {
    let mut s = Scenario::with(Script::new().delay(Duration::from_millis(300))).await;
    let mut messages = Vec::new();
    for n in 0..10 {
        messages.push(s.alice.send("+4915112345678", &format!("drain {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(10).await;
    s.restart().await;
    for message in &messages {
        s.alice.status_of(message).becomes("delivered").await;
    }
    assert_eq!(s.resends().await, 0, "no part was in doubt");
    s.assert_carrier_submits(10);
    s.end().await;
}
