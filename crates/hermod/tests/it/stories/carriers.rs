//! Carriers as they are: they refuse, throttle, fall silent and hang up.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Outcome, Script};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
const IN_DOUBT_WAIT: Duration = Duration::from_secs(15);
const RECONNECT: Duration = Duration::from_secs(61);

#[tokio::test]
async fn what_the_carrier_cannot_deliver_is_undeliverable_and_stays_paid() {
    let s = Scenario::with(Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable)).await;
    let message = s.alice.sends("+4915112345678", "nobody there").await.accepted();
    s.alice.sees(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "UNDELIV");
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn a_permanent_refusal_is_not_retried() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SUBMITFAIL)).await;
    let message = s.alice.sends("+4915112345678", "no").await.accepted();
    s.alice.sees(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "REJECTD");
    s.carrier_saw_submits(1);
    s.end().await;
}

#[tokio::test]
async fn a_refused_destination_is_reported_as_undeliverable() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::INVDSTADR)).await;
    let message = s.alice.sends("+4915112345678", "no such number").await.accepted();
    s.alice.sees(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "UNDELIV");
    s.end().await;
}

#[tokio::test]
async fn a_throttled_link_pauses_and_keeps_the_order() {
    let s = Scenario::with(Script::new().throttle(1)).await;
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(s.alice.sends("+4915112345678", &format!("in order {n}")).await.accepted());
    }
    s.carrier_has_seen_submits(1).await;
    s.a_moment_passes().await;
    s.carrier_saw_at_most_submits(5);
    s.alice.sees(&messages[0]).is("queued").await;
    for message in &messages {
        s.stepping(Duration::from_secs(1), || s.alice.sees(message).becomes("delivered")).await;
    }
    s.alice.has("99.75").await;
    s.end().await;
}

#[tokio::test]
async fn a_temporary_error_is_tried_again_on_schedule() {
    let s = Scenario::with(Script::new().reject_first(2, CommandStatus::SYSERR)).await;
    let message = s.alice.sends("+4915112345678", "later").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.alice.sees(&message).is("queued").await;
    s.advance(Duration::from_secs(6)).await;
    s.carrier_has_seen_submits(2).await;
    s.advance(Duration::from_secs(34)).await;
    s.alice.sees(&message).becomes("delivered").await;
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn an_answer_that_never_comes_is_in_doubt_and_resent_once() {
    let s = Scenario::with(Script::new().ignore_first(1)).await;
    let message = s.alice.sends("+4915112345678", "hello?").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.advance(RESPONSE_TIMEOUT).await;
    s.stepping(IN_DOUBT_WAIT, || s.alice.sees(&message).becomes("delivered")).await;
    s.carrier_saw_submits(2);
    assert_eq!(s.resends().await, 1);
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn an_answer_that_comes_late_is_still_the_answer() {
    let s = Scenario::with(Script::new().delay(Duration::from_millis(300))).await;
    let message = s.alice.sends("+4915112345678", "slow").await.accepted();
    s.carrier_has_seen_submits(1).await;
    // The gateway gives up waiting while the carrier is still thinking. It parts in good order, and the carrier
    // answers what it has read before it agrees.
    s.skip(RESPONSE_TIMEOUT);
    s.alice.sees(&message).becomes("submitted").await;
    s.stepping(IN_DOUBT_WAIT, || s.alice.sees(&message).becomes("delivered")).await;
    s.carrier_saw_submits(1);
    assert_eq!(s.resends().await, 0);
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn a_cut_link_comes_back_and_what_was_under_way_is_resent_once() {
    let s = Scenario::with(Script::new().cut_before_response(1)).await;
    let message = s.alice.sends("+4915112345678", "cut").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.stepping(RECONNECT, || s.alice.sees(&message).becomes("delivered")).await;
    s.carrier_saw_submits(2);
    assert_eq!(s.resends().await, 1);
    s.end().await;
}

#[tokio::test]
async fn a_carrier_that_unbinds_is_bound_again() {
    let s = Scenario::with(Script::new().unbind_after_response(1)).await;
    let first = s.alice.sends("+4915112345678", "one").await.accepted();
    s.stepping(RECONNECT, || s.alice.sees(&first).becomes("delivered")).await;
    let second = s.alice.sends("+4915112345678", "two").await.accepted();
    s.stepping(RECONNECT, || s.alice.sees(&second).becomes("delivered")).await;
    s.carrier_received_once("two");
    s.end().await;
}

#[tokio::test]
async fn links_follow_what_the_operator_changes() {
    let s = Scenario::with(Script::new()).await;
    let first = s.alice.sends("+4915112345678", "to the first address").await.accepted();
    s.alice.sees(&first).becomes("delivered").await;
    s.carrier_saw_submits(1);

    let moved =
        Carrier::start(CarrierOptions::new(Script::new())).await.expect("a free port on the loopback");
    s.operator_provisions(&Scenario::carrier_entry(moved.addr(), "disabled = true\n")).await;
    s.a_moment_passes().await;
    let second = s.alice.sends("+4915112345678", "waits for its carrier").await.accepted();
    s.a_moment_passes().await;
    s.alice.sees(&second).is("queued").await;

    s.operator_provisions(&Scenario::carrier_entry(moved.addr(), "")).await;
    s.stepping(Duration::from_secs(2), || s.alice.sees(&second).becomes("delivered")).await;
    assert_eq!(moved.record().received_texts(), ["waits for its carrier"]);
    s.carrier_saw_submits(1);
    s.end().await;
    moved.stop().await;
}
