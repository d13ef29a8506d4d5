//! Failures 1 to 5 and 17: receipts that are hard to match.

use super::{TO, send_and_wait_for_delivery};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{DateDigits, Outcome, ReceiptFormat, Script};
use std::time::Duration;

#[tokio::test]
async fn failure_1_hex_id_in_the_response_and_decimal_id_in_the_receipt_are_matched() {
    for (script, setting) in [
        (Script::new().hex_ids_decimal_in_receipts(), "ids = \"hex-to-decimal\""),
        (Script::new().decimal_ids_hex_in_receipts(), "ids = \"decimal-to-hex\""),
    ] {
        let s = Scenario::with_settings(script, setting).await;
        send_and_wait_for_delivery(&s, "in two number systems").await;
        s.end().await;
    }
}

#[tokio::test]
async fn failure_1_receipt_before_its_response_is_matched_in_the_other_number_system() {
    let script = Script::new()
        .hex_ids_decimal_in_receipts()
        .receipt_ahead_of_response(Duration::from_millis(300), Outcome::Delivered);
    let s = Scenario::with_settings(script, "ids = \"hex-to-decimal\"").await;
    send_and_wait_for_delivery(&s, "parked in decimal").await;
    s.end().await;
}

#[tokio::test]
async fn failure_2_receipt_ids_with_other_case_or_without_zeros_are_matched() {
    for script in [
        Script::new().ids_lowered_in_receipts(),
        Script::new().ids_raised_in_receipts(),
        Script::new().zeros_stripped_in_receipts(),
        Script::new().zeros_added_in_receipts(),
        Script::new().uuid_ids_raised_in_receipts(),
    ] {
        let s = Scenario::with(script).await;
        send_and_wait_for_delivery(&s, "the id is damaged").await;
        s.end().await;
    }
}

#[tokio::test]
async fn failure_5_receipt_with_a_service_type_of_seven_characters_is_read() {
    let s = Scenario::with(Script::new().receipt_format(ReceiptFormat::standard().with_long_service_type()))
        .await;
    send_and_wait_for_delivery(&s, "from a simulator").await;
    assert_eq!(s.carrier().record().counts().receipts_rejected, 0);
    s.end().await;
}

#[tokio::test]
async fn failure_5_receipts_in_ucs2_and_in_data_sm_without_payload_or_esm_class_are_read() {
    for wording in [
        ReceiptFormat::text_only().in_ucs2(),
        ReceiptFormat::tlvs_only().by_data_sm().unmarked(),
        ReceiptFormat::shortest().in_ucs2(),
    ] {
        let s = Scenario::with(Script::new().receipt_format(wording)).await;
        send_and_wait_for_delivery(&s, "an unusual receipt").await;
        assert_eq!(s.carrier().record().counts().receipts_rejected, 0);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_3_receipt_before_its_response_waits_for_it() {
    let script = Script::new().receipt_ahead_of_response(Duration::from_secs(2), Outcome::Delivered);
    let s = Scenario::with(script).await;
    let message = s.alice.send(TO, "receipt first").await.accepted();
    s.wait_for_answered_receipts(1).await;
    s.alice.status_of(&message).is("queued").await;
    s.alice.status_of(&message).becomes("delivered").await;
    s.end().await;
}

#[tokio::test]
async fn failure_3_unmatched_receipt_is_parked_and_matched_after_the_conversion_is_corrected() {
    let s = Scenario::with_settings(Script::new().hex_ids_decimal_in_receipts(), "").await;
    let mut messages = Vec::new();
    for n in 0..20 {
        messages.push(s.alice.send(TO, &format!("wrongly set up {n}")).await.accepted());
    }
    s.wait_for_answered_receipts(20).await;
    s.alice.status_of(&messages[0]).is("submitted").await;
    s.provision(&Scenario::carrier_entry(s.carrier().addr(), "ids = \"hex-to-decimal\"")).await;
    for message in &messages {
        s.advance_until(Duration::from_secs(61), || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipt_on_another_link_is_matched() {
    let s = Scenario::with_settings(Script::new().receipts_on_other_link(), "links = 2").await;
    s.wait_for_links(2).await;
    send_and_wait_for_delivery(&s, "there and back another way").await;
    let (submits, receipts) = (s.carrier().record().submits(), s.carrier().record().receipts());
    assert_ne!(submits[0].link, receipts[0].link);
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipt_on_a_receiver_is_matched() {
    let s = Scenario::with_settings(Script::new(), "binds = \"transmitter-and-receiver\"").await;
    s.wait_for_links(2).await;
    send_and_wait_for_delivery(&s, "by the other door").await;
    let (submits, receipts) = (s.carrier().record().submits(), s.carrier().record().receipts());
    assert_ne!(submits[0].link, receipts[0].link);
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipt_after_a_restart_is_matched() {
    let mut s = Scenario::with(Script::new().receipts_after_reconnect()).await;
    let message = s.alice.send(TO, "the receipt takes its time").await.accepted();
    s.alice.status_of(&message).becomes("submitted").await;
    s.restart().await;
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&message).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn failure_5_receipt_text_dialects_are_parsed() {
    let s = Scenario::with(Script::new()).await;
    for (place, wording) in [
        ReceiptFormat::short(),
        ReceiptFormat::shortest(),
        ReceiptFormat::odd_labels(),
        ReceiptFormat::labels_and_commas(),
        ReceiptFormat::tlvs_only(),
        ReceiptFormat::text_only(),
        ReceiptFormat::in_payload(),
        ReceiptFormat::standard().dates(DateDigits::Seconds),
        ReceiptFormat::standard().err("EC_TELESERVICE_NOT_PROVISIONED"),
        ReceiptFormat::standard().with_unknown_tlv(),
        ReceiptFormat::standard().by_data_sm(),
    ]
    .into_iter()
    .enumerate()
    {
        s.set_carrier_script(Script::new().receipt_format(wording));
        send_and_wait_for_delivery(&s, &format!("wording {place}")).await;
    }
    assert_eq!(s.carrier().record().counts().links_opened, 1, "the link stays bound");
    s.end().await;
}

#[tokio::test]
async fn failure_5_receipts_without_labels_are_parsed_in_a_configured_dialect() {
    let script = Script::new().receipt_format(ReceiptFormat::commas());
    let s = Scenario::with_settings(script, "receipts = \"commas\"").await;
    send_and_wait_for_delivery(&s, "only values").await;
    s.end().await;
}

#[tokio::test]
async fn failure_5_unknown_receipt_status_changes_nothing_and_raises_an_alarm() {
    let script = Script::new().receipt_format(ReceiptFormat::text_only().stat("WHATEVR"));
    let s = Scenario::with(script).await;
    let message = s.alice.send(TO, "and now?").await.accepted();
    s.wait_for_answered_receipts(1).await;
    s.alice.status_of(&message).becomes("submitted").await;
    s.wait_for_alarms(&["acme unknown-stat WHATEVR"]).await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn repeated_receipt_changes_nothing() {
    let s = Scenario::with(Script::new().receipt_twice()).await;
    let message = send_and_wait_for_delivery(&s, "twice").await;
    s.wait_for_answered_receipts(2).await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "DELIVRD");
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_17_malformed_deliver_sm_keeps_the_link_bound() {
    let s = Scenario::with(Script::new().malformed_before_receipts()).await;
    send_and_wait_for_delivery(&s, "the next one is fine").await;
    // Its response follows that of the malformed one.
    s.wait_for_answered_receipts(1).await;
    let counts = s.carrier().record().counts();
    assert_eq!((counts.links_opened, counts.links_closed), (1, 0));
    assert!(counts.receipts_rejected >= 1, "{counts:?}");
    s.end().await;
}
