//! Time limits of messages: expiry, unknown status, deletion of text and record.

use super::smpp::provision_alice_smpp;
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus, SubmitSm};
use std::time::Duration;

const TO: &str = "+4915112345678";
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const ONE_HOUR_PERIOD: &[u8] = b"000000010000000R";

async fn receiver(s: &Scenario) -> Esme {
    Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await
}

#[tokio::test]
async fn message_that_expires_in_the_queue_is_refunded_and_receipted() {
    let s = Scenario::without_carrier().await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(SubmitSm { validity_period: ONE_HOUR_PERIOD, ..message("an hour") }).await;
    let longer = alice.submit(message("three days")).await;
    s.alice.assert_balance("99.9").await;
    alice.unbind().await;
    s.advance(HOUR).await;
    s.alice.status_of(&id).becomes("expired").await;
    s.alice.status_of(&longer).is("queued").await;
    s.alice.assert_balance("99.95").await;
    let mut alice = receiver(&s).await;
    let receipt = alice.take_receipt().await;
    assert_eq!(
        (receipt.get("id"), receipt.get("stat"), receipt.state_tlv),
        (id.as_str(), "EXPIRED", Some(3))
    );
    alice.assert_nothing_received().await;
    alice.unbind().await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn message_with_only_temporary_errors_expires_and_is_refunded() {
    let s = Scenario::with(Script::new().reject_first(1_000, CommandStatus::SYSERR)).await;
    let id = s.alice.send(TO, "not now").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.alice.assert_balance("99.95").await;
    s.advance(73 * HOUR).await;
    s.advance_until(Duration::from_secs(61), || s.alice.status_of(&id).becomes("expired")).await;
    s.alice.assert_balance("100").await;
    s.end_advancing(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn message_without_any_response_stays_submitted_unknown_and_is_not_refunded() {
    let s = Scenario::with(Script::new().ignore_first(1_000)).await;
    let id = s.alice.send(TO, "did it leave").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance_until(Duration::from_secs(20), || s.alice.status_of(&id).becomes("submitted")).await;
    assert_eq!(s.alice.status_record(&id).await["dlr"], "UNKNOWN");
    s.advance(97 * HOUR).await;
    s.pause_briefly().await;
    s.alice.status_of(&id).is("submitted").await;
    assert_eq!(s.alice.status_record(&id).await["dlr"], "UNKNOWN");
    s.alice.assert_balance("99.95").await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn message_without_receipt_is_receipted_unknown_once_and_a_late_receipt_still_counts() {
    let s = Scenario::with(Script::new().no_receipts()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("silence")).await;
    s.alice.status_of(&id).becomes("submitted").await;
    alice.unbind().await;
    s.advance(72 * HOUR).await;
    s.pause_briefly().await;
    let mut alice = receiver(&s).await;
    alice.assert_nothing_received().await;
    alice.unbind().await;
    s.advance(24 * HOUR).await;
    let mut alice = receiver(&s).await;
    let unknown = alice.take_receipt().await;
    assert_eq!((unknown.get("id"), unknown.get("stat"), unknown.state_tlv), (id.as_str(), "UNKNOWN", None));
    alice.unbind().await;
    s.alice.status_of(&id).is("submitted").await;
    s.deliver_last_message();
    s.advance_until(Duration::from_secs(2), || s.alice.status_of(&id).becomes("delivered")).await;
    let mut alice = receiver(&s).await;
    let end = alice.take_receipt().await;
    assert_eq!((end.get("id"), end.get("stat"), end.state_tlv), (id.as_str(), "DELIVRD", Some(2)));
    alice.assert_nothing_received().await;
    alice.unbind().await;
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn submit_sm_has_the_relative_validity_period_of_the_message() {
    let s = Scenario::with_settings(Script::new(), "validity = \"relative\"").await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    alice.submit(SubmitSm { validity_period: ONE_HOUR_PERIOD, ..message("an hour") }).await;
    alice.take_receipt().await;
    alice.unbind().await;
    let submits = s.carrier().record().submits();
    let periods: Vec<&str> = submits.iter().map(|submit| submit.validity_period.as_str()).collect();
    assert_eq!(periods, ["000000010000000R"]);
    s.end().await;
}

async fn wait_until_deleted(s: &Scenario, id: &str) {
    let started = now();
    while s.alice.get_message(id).await.status != 404 {
        assert!(started.elapsed() < PATIENCE, "the message still exists");
        pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn record_is_kept_after_its_text_and_deleted_with_its_idempotency_key() {
    let s = Scenario::with(Script::new()).await;
    let id = s.alice.send_with_key(TO, "a year ago", "key").await.accepted();
    s.alice.status_of(&id).becomes("delivered").await;
    s.advance(31 * DAY).await;
    s.pause_briefly().await;
    s.alice.status_of(&id).is("delivered").await;
    assert_eq!(s.alice.send_with_key(TO, "a year ago", "key").await.status, 200);
    s.advance(371 * DAY).await;
    s.advance_until(Duration::from_secs(61), || wait_until_deleted(&s, &id)).await;
    s.alice.assert_balance("99.95").await;
    let again = s.alice.send_with_key(TO, "a year later", "key").await.accepted();
    assert_ne!(again, id);
    s.advance_until(Duration::from_secs(2), || s.alice.status_of(&again).becomes("delivered")).await;
    s.alice.assert_balance("99.9").await;
    s.end().await;
}
