//! Messages over HTTP: sent to the carrier, receipts, status.

use crate::scenario::Scenario;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_simulator::carrier::{Outcome, Script};
use std::time::Duration;

#[tokio::test]
async fn message_is_charged_sent_once_and_delivered() {
    let s = Scenario::with(Script::new()).await;
    let message = s.alice.send("+4915112345678", "hello").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    s.alice.assert_balance("99.95").await;
    s.assert_carrier_received_once("hello");
    s.end().await;
}

#[tokio::test]
async fn status_record_has_the_documented_fields() {
    let s = Scenario::with(Script::new()).await;
    let message = s.alice.send("+4915112345678", "hello").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    let record = s.alice.status_record(&message).await;
    let operator = Numbers::embedded().find(Msisdn::parse("+4915112345678").expect("a number")).operator;
    assert_eq!(
        record,
        serde_json::json!({
            "message_id": message, "source": "Hermod", "dest": "4915112345678", "status": "delivered",
            "dlr": "DELIVRD", "direction": "MT", "country": "Germany", "operator": operator,
        })
    );
    s.end().await;
}

#[tokio::test]
async fn message_with_a_receipt_before_its_response_is_delivered() {
    let s = Scenario::with(Script::new().receipt_before_response(Outcome::Delivered)).await;
    let message = s.alice.send("+4915112345678", "early").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    s.end().await;
}

#[tokio::test]
async fn repeated_receipt_changes_nothing() {
    let s = Scenario::with(Script::new().receipt_twice()).await;
    let message = s.alice.send("+4915112345678", "twice").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    s.wait_for_answered_receipts(2).await;
    s.alice.status_of(&message).is("delivered").await;
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn message_with_an_intermediate_receipt_is_enroute_and_then_delivered() {
    let hour = Duration::from_secs(3600);
    let script = Script::new().enroute_after(Duration::ZERO).receipt_after(hour, Outcome::Delivered);
    let s = Scenario::with(script).await;
    let message = s.alice.send("+4915112345678", "slow").await.accepted();
    s.alice.status_of(&message).becomes("enroute").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "ACCEPTD");
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn message_without_a_receipt_stays_submitted_with_code_unknown() {
    let s = Scenario::with(Script::new().no_receipts()).await;
    let message = s.alice.send("+4915112345678", "silence").await.accepted();
    s.alice.status_of(&message).becomes("submitted").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "UNKNOWN");
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn long_message_is_sent_in_parts_and_joined_by_the_carrier() {
    let s = Scenario::with(Script::new()).await;
    let text = "Hermod rode nine nights through deep and dark valleys. ".repeat(8);
    let answer = s.alice.send("+4915112345678", &text).await;
    assert_eq!(answer.headers["x-sms-parts"], "3");
    assert_eq!(answer.headers["x-sms-encoding"], "gsm7");
    let message = answer.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    s.alice.assert_balance("99.85").await;
    s.assert_carrier_received_once(&text);
    s.end().await;
}

#[tokio::test]
async fn emoji_and_umlauts_arrive_as_sent() {
    let s = Scenario::with(Script::new()).await;
    let text = "Grüße aus Åsgard 🐎🌈 ".repeat(7);
    let answer = s.alice.send("+4915112345678", &text).await;
    assert_eq!(answer.headers["x-sms-encoding"], "ucs2");
    let message = answer.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    s.assert_carrier_received_once(&text);
    s.end().await;
}

#[tokio::test]
async fn message_of_another_account_is_not_found() {
    let s = Scenario::with(Script::new()).await;
    let message = s.alice.send("+4915112345678", "private").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    assert_eq!(s.bob.get_message(&message).await.status, 404);
    assert_eq!(s.bob.get_message("1").await.status, 404);
    s.end().await;
}
