//! Failures 1 to 5 and 17: receipts that do not find their message.

use super::{TO, one_is_delivered};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{DateDigits, Outcome, ReceiptFormat, Script};
use std::time::Duration;

#[tokio::test]
async fn failure_1_an_id_is_hex_in_the_answer_and_decimal_in_the_receipt() {
    for (script, setting) in [
        (Script::new().hex_ids_decimal_in_receipts(), "ids = \"hex-to-decimal\""),
        (Script::new().decimal_ids_hex_in_receipts(), "ids = \"decimal-to-hex\""),
    ] {
        let s = Scenario::with_settings(script, setting).await;
        one_is_delivered(&s, "in two number systems").await;
        s.end().await;
    }
}

#[tokio::test]
async fn failure_1_an_overtaking_receipt_finds_its_answer_in_the_other_number_system() {
    let script = Script::new()
        .hex_ids_decimal_in_receipts()
        .receipt_ahead_of_response(Duration::from_millis(300), Outcome::Delivered);
    let s = Scenario::with_settings(script, "ids = \"hex-to-decimal\"").await;
    one_is_delivered(&s, "parked in decimal").await;
    s.end().await;
}

#[tokio::test]
async fn failure_2_ids_lose_their_capitals_or_zeros_on_the_way() {
    for script in [
        Script::new().ids_lowered_in_receipts(),
        Script::new().ids_raised_in_receipts(),
        Script::new().zeros_stripped_in_receipts(),
        Script::new().zeros_added_in_receipts(),
        Script::new().uuid_ids_raised_in_receipts(),
    ] {
        let s = Scenario::with(script).await;
        one_is_delivered(&s, "the id is damaged").await;
        s.end().await;
    }
}

#[tokio::test]
async fn failure_5_receipt_with_a_service_type_of_seven_characters_is_read() {
    let s = Scenario::with(Script::new().receipt_format(ReceiptFormat::standard().with_long_service_type()))
        .await;
    one_is_delivered(&s, "from a simulator").await;
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
        one_is_delivered(&s, "an unusual receipt").await;
        assert_eq!(s.carrier().record().counts().receipts_rejected, 0);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_3_a_receipt_that_comes_before_its_answer_waits_for_it() {
    let script = Script::new().receipt_ahead_of_response(Duration::from_secs(2), Outcome::Delivered);
    let s = Scenario::with(script).await;
    let message = s.alice.sends(TO, "receipt first").await.accepted();
    s.carrier_receipts_are_taken(1).await;
    s.alice.sees(&message).is("queued").await;
    s.alice.sees(&message).becomes("delivered").await;
    s.end().await;
}

#[tokio::test]
async fn failure_3_an_unknown_receipt_is_kept_and_found_after_the_conversion_was_corrected() {
    let s = Scenario::with_settings(Script::new().hex_ids_decimal_in_receipts(), "").await;
    let mut messages = Vec::new();
    for n in 0..20 {
        messages.push(s.alice.sends(TO, &format!("wrongly set up {n}")).await.accepted());
    }
    s.carrier_receipts_are_taken(20).await;
    s.alice.sees(&messages[0]).is("submitted").await;
    s.operator_provisions(&Scenario::carrier_entry(s.carrier().addr(), "ids = \"hex-to-decimal\"")).await;
    for message in &messages {
        s.stepping(Duration::from_secs(61), || s.alice.sees(message).becomes("delivered")).await;
    }
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipts_come_back_on_another_link() {
    let s = Scenario::with_settings(Script::new().receipts_on_other_link(), "links = 2").await;
    s.links_are_up(2).await;
    one_is_delivered(&s, "there and back another way").await;
    let (submits, receipts) = (s.carrier().record().submits(), s.carrier().record().receipts());
    assert_ne!(submits[0].link, receipts[0].link);
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipts_come_back_on_a_receiver() {
    let s = Scenario::with_settings(Script::new(), "binds = \"transmitter-and-receiver\"").await;
    s.links_are_up(2).await;
    one_is_delivered(&s, "by the other door").await;
    let (submits, receipts) = (s.carrier().record().submits(), s.carrier().record().receipts());
    assert_ne!(submits[0].link, receipts[0].link);
    s.end().await;
}

#[tokio::test]
async fn failure_4_receipts_come_back_after_a_restart() {
    let mut s = Scenario::with(Script::new().receipts_after_reconnect()).await;
    let message = s.alice.sends(TO, "the receipt takes its time").await.accepted();
    s.alice.sees(&message).becomes("submitted").await;
    s.restart().await;
    s.stepping(Duration::from_secs(1), || s.alice.sees(&message).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn failure_5_receipts_are_worded_as_carriers_please() {
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
        s.carrier_does(Script::new().receipt_format(wording));
        one_is_delivered(&s, &format!("wording {place}")).await;
    }
    assert_eq!(s.carrier().record().counts().links_opened, 1, "nothing cost the link");
    s.end().await;
}

#[tokio::test]
async fn failure_5_receipts_without_labels_have_a_dialect() {
    let script = Script::new().receipt_format(ReceiptFormat::commas());
    let s = Scenario::with_settings(script, "receipts = \"commas\"").await;
    one_is_delivered(&s, "only values").await;
    s.end().await;
}

#[tokio::test]
async fn failure_5_a_word_nobody_knows_changes_nothing_and_is_told() {
    let script = Script::new().receipt_format(ReceiptFormat::text_only().stat("WHATEVR"));
    let s = Scenario::with(script).await;
    let message = s.alice.sends(TO, "and now?").await.accepted();
    s.carrier_receipts_are_taken(1).await;
    s.alice.sees(&message).becomes("submitted").await;
    s.alarms_are(&["acme unknown-word WHATEVR"]).await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn a_receipt_that_comes_twice_changes_nothing_the_second_time() {
    let s = Scenario::with(Script::new().receipt_twice()).await;
    let message = one_is_delivered(&s, "twice").await;
    s.carrier_receipts_are_taken(2).await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "DELIVRD");
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_17_one_malformed_delivery_does_not_cost_the_link() {
    let s = Scenario::with(Script::new().malformed_before_receipts()).await;
    one_is_delivered(&s, "the next one is fine").await;
    // Its answer leaves after that of the malformed one.
    s.carrier_receipts_are_taken(1).await;
    let counts = s.carrier().record().counts();
    assert_eq!((counts.links_opened, counts.links_closed), (1, 0));
    assert!(counts.receipts_rejected >= 1, "{counts:?}");
    s.end().await;
}
