//! What time does to messages: they expire, are reported unknown, lose their text and at last their record.

use super::smpp::{alice_binds_with, message};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::{Outcome, Script};
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
async fn what_expires_in_the_queue_is_refunded_and_reported() {
    let s = Scenario::without_carrier().await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(SubmitSm { validity_period: ONE_HOUR_PERIOD, ..message("an hour") }).await;
    let longer = alice.submits(message("three days")).await;
    s.alice.has("99.9").await;
    alice.unbinds().await;
    s.advance(HOUR).await;
    s.alice.sees(&id).becomes("expired").await;
    s.alice.sees(&longer).is("queued").await;
    s.alice.has("99.95").await;
    let mut alice = receiver(&s).await;
    let receipt = alice.gets_receipt().await;
    assert_eq!(
        (receipt.get("id"), receipt.get("stat"), receipt.state_tlv),
        (id.as_str(), "EXPIRED", Some(3))
    );
    alice.gets_nothing().await;
    alice.unbinds().await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn what_every_attempt_was_refused_for_expires_with_its_money_back() {
    let s = Scenario::with(Script::new().reject_first(1_000, CommandStatus::SYSERR)).await;
    let id = s.alice.sends(TO, "not now").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.alice.has("99.95").await;
    s.advance(73 * HOUR).await;
    s.stepping(Duration::from_secs(61), || s.alice.sees(&id).becomes("expired")).await;
    s.alice.has("100").await;
    s.end_stepping(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn what_may_have_left_is_not_refunded_and_its_end_unknown() {
    let s = Scenario::with(Script::new().ignore_first(1_000)).await;
    let id = s.alice.sends(TO, "did it leave").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.stepping(Duration::from_secs(20), || s.alice.sees(&id).becomes("submitted")).await;
    assert_eq!(s.alice.asks_for(&id).await["dlr"], "UNKNOWN");
    s.advance(97 * HOUR).await;
    s.a_moment_passes().await;
    s.alice.sees(&id).is("submitted").await;
    assert_eq!(s.alice.asks_for(&id).await["dlr"], "UNKNOWN");
    s.alice.has("99.95").await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn no_receipt_is_told_once_as_unknown_and_a_late_one_still_counts() {
    let late = Duration::from_secs(4);
    let s = Scenario::with(Script::new().receipt_after(late, Outcome::Delivered)).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("silence")).await;
    s.alice.sees(&id).becomes("submitted").await;
    alice.unbinds().await;
    s.advance(72 * HOUR).await;
    s.a_moment_passes().await;
    let mut alice = receiver(&s).await;
    alice.gets_nothing().await;
    alice.unbinds().await;
    s.advance(24 * HOUR).await;
    let mut alice = receiver(&s).await;
    let unknown = alice.gets_receipt().await;
    assert_eq!((unknown.get("id"), unknown.get("stat"), unknown.state_tlv), (id.as_str(), "UNKNOWN", None));
    alice.unbinds().await;
    s.alice.sees(&id).is("submitted").await;
    s.stepping(Duration::from_secs(2), || s.alice.sees(&id).becomes("delivered")).await;
    let mut alice = receiver(&s).await;
    let end = alice.gets_receipt().await;
    assert_eq!((end.get("id"), end.get("stat"), end.state_tlv), (id.as_str(), "DELIVRD", Some(2)));
    alice.gets_nothing().await;
    alice.unbinds().await;
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn a_carrier_is_told_how_long_it_may_try() {
    let s = Scenario::with_settings(Script::new(), "validity = \"relative\"").await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    alice.submits(SubmitSm { validity_period: ONE_HOUR_PERIOD, ..message("an hour") }).await;
    alice.gets_receipt().await;
    alice.unbinds().await;
    let submits = s.carrier().record().submits();
    let told: Vec<&str> = submits.iter().map(|submit| submit.validity_period.as_str()).collect();
    assert_eq!(told, ["000000010000000R"]);
    s.end().await;
}

async fn is_gone(s: &Scenario, id: &str) {
    let started = now();
    while s.alice.asks(id).await.status != 404 {
        assert!(started.elapsed() < PATIENCE, "it is still there");
        pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_record_outlives_its_text_and_then_goes_with_its_key() {
    let s = Scenario::with(Script::new()).await;
    let id = s.alice.sends_with_key(TO, "a year ago", "key").await.accepted();
    s.alice.sees(&id).becomes("delivered").await;
    s.advance(31 * DAY).await;
    s.a_moment_passes().await;
    s.alice.sees(&id).is("delivered").await;
    assert_eq!(s.alice.sends_with_key(TO, "a year ago", "key").await.status, 200);
    s.advance(371 * DAY).await;
    s.stepping(Duration::from_secs(61), || is_gone(&s, &id)).await;
    s.alice.has("99.95").await;
    let again = s.alice.sends_with_key(TO, "a year later", "key").await.accepted();
    assert_ne!(again, id);
    s.stepping(Duration::from_secs(2), || s.alice.sees(&again).becomes("delivered")).await;
    s.alice.has("99.9").await;
    s.end().await;
}
