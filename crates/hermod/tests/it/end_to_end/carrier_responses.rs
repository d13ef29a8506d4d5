//! Carriers that reject, throttle, do not respond or disconnect.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{
    CarrierOptions, Outcome, ResponseQuirk, Script, SimulatedCarrier, SubmitFilter,
};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
const IN_DOUBT_WAIT: Duration = Duration::from_secs(15);
const RECONNECT: Duration = Duration::from_secs(61);
/// A step of the clock that is short against the waits of retries.
const STEP: Duration = Duration::from_secs(20);

#[tokio::test]
async fn message_with_an_undeliverable_receipt_is_undeliverable_and_stays_charged() {
    let s = Scenario::with(Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable)).await;
    let message = s.alice.send("+4915112345678", "undeliverable").await.accepted();
    s.alice.status_of(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "UNDELIV");
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn permanent_rejection_is_not_retried() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SUBMITFAIL)).await;
    let message = s.alice.send("+4915112345678", "no").await.accepted();
    s.alice.status_of(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "REJECTD");
    s.assert_carrier_submits(1);
    s.end().await;
}

#[tokio::test]
async fn rejected_destination_is_reported_as_undeliverable() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::INVDSTADR)).await;
    let message = s.alice.send("+4915112345678", "no such number").await.accepted();
    s.alice.status_of(&message).becomes("undeliverable").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "UNDELIV");
    s.end().await;
}

#[tokio::test]
async fn throttled_link_pauses_and_keeps_the_order() {
    let s = Scenario::with(Script::new().throttle(1)).await;
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(s.alice.send("+4915112345678", &format!("in order {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(1).await;
    s.pause_briefly().await;
    s.assert_carrier_submits_at_most(5);
    s.alice.status_of(&messages[0]).is("queued").await;
    for message in &messages {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.alice.assert_balance("99.75").await;
    s.end().await;
}

#[tokio::test]
async fn temporary_error_is_retried_on_the_schedule() {
    let s = Scenario::with(Script::new().reject_first(2, CommandStatus::SYSERR)).await;
    let message = s.alice.send("+4915112345678", "later").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.alice.status_of(&message).is("queued").await;
    // The wait begins when the response has arrived, which the carrier does not tell.
    s.advance_until(Duration::from_secs(6), || s.wait_for_carrier_submits(2)).await;
    s.advance_until(Duration::from_secs(34), || s.alice.status_of(&message).becomes("delivered")).await;
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn carrier_that_refuses_every_retry_is_poor_and_keeps_its_alarm_until_it_accepts() {
    let s = Scenario::with(Script::new().reject_first(u64::MAX, CommandStatus::SYSERR)).await;
    let mut messages = Vec::new();
    for n in 0..3 {
        messages.push(s.alice.send("+4915112345678", &format!("refused {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(3).await;
    s.advance_until(STEP, || s.wait_for_alarms(&["acme queue-age "])).await;
    s.advance_until(STEP, || s.wait_for_carrier_health("poor")).await;
    let submits = s.carrier().record().counts().submits;
    for _ in 0..60 {
        s.skip(STEP);
        s.pause_briefly().await;
        assert_eq!(s.alarms(), ["acme queue-age "]);
        s.wait_for_carrier_health("poor").await;
    }
    assert!(s.carrier().record().counts().submits >= submits + 3, "they were retried meanwhile");
    s.set_carrier_script(Script::new());
    for message in &messages {
        s.advance_until(STEP, || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.advance_until(STEP, || s.wait_for_alarms(&[])).await;
    s.advance_until(STEP, || s.wait_for_carrier_health("up")).await;
    s.end().await;
}

#[tokio::test]
async fn part_without_a_response_is_in_doubt_and_resent_once() {
    let s = Scenario::with(Script::new().ignore_first(1)).await;
    let message = s.alice.send("+4915112345678", "hello?").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance(RESPONSE_TIMEOUT).await;
    s.advance_until(IN_DOUBT_WAIT, || s.alice.status_of(&message).becomes("delivered")).await;
    s.assert_carrier_submits(2);
    assert_eq!(s.resends().await, 1);
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn late_response_is_applied() {
    let s = Scenario::with(Script::new().delay(Duration::from_millis(300)).no_receipts()).await;
    let message = s.alice.send("+4915112345678", "slow").await.accepted();
    s.wait_for_carrier_submits(1).await;
    // The response times out at the gateway, which unbinds. The carrier
    // answers what it has read before the unbind_resp.
    s.skip(RESPONSE_TIMEOUT);
    s.alice.status_of(&message).becomes("submitted").await;
    s.deliver_last_message();
    s.advance_until(IN_DOUBT_WAIT, || s.alice.status_of(&message).becomes("delivered")).await;
    s.assert_carrier_submits(1);
    assert_eq!(s.resends().await, 0);
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn cut_link_reconnects_and_parts_in_flight_are_resent_once() {
    let s = Scenario::with(Script::new().cut_before_response(1)).await;
    let message = s.alice.send("+4915112345678", "cut").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance_until(RECONNECT, || s.alice.status_of(&message).becomes("delivered")).await;
    s.assert_carrier_submits(2);
    assert_eq!(s.resends().await, 1);
    s.end().await;
}

#[tokio::test]
async fn carrier_that_unbinds_is_bound_again() {
    let s = Scenario::with(Script::new().unbind_after_response(1)).await;
    let first = s.alice.send("+4915112345678", "one").await.accepted();
    s.advance_until(RECONNECT, || s.alice.status_of(&first).becomes("delivered")).await;
    let second = s.alice.send("+4915112345678", "two").await.accepted();
    s.advance_until(RECONNECT, || s.alice.status_of(&second).becomes("delivered")).await;
    s.assert_carrier_received_once("two");
    s.end().await;
}

#[tokio::test]
async fn links_follow_changes_of_the_carrier_entry() {
    let s = Scenario::with(Script::new()).await;
    let first = s.alice.send("+4915112345678", "to the first address").await.accepted();
    s.alice.status_of(&first).becomes("delivered").await;
    s.assert_carrier_submits(1);

    let moved = SimulatedCarrier::start(CarrierOptions::new(Script::new()))
        .await
        .expect("a free port on the loopback");
    s.provision(&Scenario::carrier_entry(moved.addr(), "disabled = true\n")).await;
    s.wait_until("the link has ended", || s.carrier().record().counts().links_closed == 1).await;
    let second = s.alice.send("+4915112345678", "waits for its carrier").await.accepted();
    s.pause_briefly().await;
    s.alice.status_of(&second).is("queued").await;

    s.provision(&Scenario::carrier_entry(moved.addr(), "")).await;
    s.advance_until(Duration::from_secs(2), || s.alice.status_of(&second).becomes("delivered")).await;
    assert_eq!(moved.record().received_texts(), ["waits for its carrier"]);
    s.assert_carrier_submits(1);
    s.end().await;
    moved.stop().await;
}

#[tokio::test]
async fn message_id_that_the_carrier_gives_to_two_parts_raises_an_alarm() {
    let script = Script::new().quirk(SubmitFilter::always(), ResponseQuirk::SameId).no_receipts();
    let s = Scenario::with(script).await;
    let first = s.alice.send("+4915112345678", "one").await.accepted();
    s.advance_until(STEP, || s.alice.status_of(&first).becomes("submitted")).await;
    s.pause_briefly().await;
    assert_eq!(s.alarms(), [""; 0], "the id is new");
    let second = s.alice.send("+4915112345679", "two").await.accepted();
    s.advance_until(STEP, || s.alice.status_of(&second).becomes("submitted")).await;
    s.advance_until(STEP, || s.wait_for_alarms(&["acme reused-message-id "])).await;
    s.end_with_open_parts(2).await;
}
