//! Failure 19: damaged texts. For every alphabet and long-message mode of a carrier, the received text is the
//! sent one.

use super::TO;
use crate::scenario::Scenario;
use hermod_simulator::carrier::{CodingZeroAlphabet, Script};
use std::time::Duration;

/// Returns texts that are hard to split: `@` (code 0), escapes and surrogates at the edges of parts.
fn texts() -> Vec<String> {
    vec![
        "@ at the start, $ and _ and [brackets] {braces} ~ ^ \\ | €".to_owned(),
        format!("{}€{}", "a".repeat(152), "b".repeat(160)),
        format!("{}😀{}", "ä".repeat(66), "ö".repeat(70)),
        format!("{}@@@@{}", "c".repeat(150), "d".repeat(200)),
        "Ελληνικά Ж 漢字 – “quoted”".to_owned(),
        "\u{e9}\u{e8}\u{f9}\u{ec}\u{f2}\u{c7}".to_owned(),
    ]
}

async fn check_all_texts(s: Scenario) {
    let mut messages = Vec::new();
    for text in texts() {
        messages.push(s.alice.send(TO, &text).await.accepted());
    }
    for message in &messages {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert_eq!(s.carrier_texts(), texts());
    s.end().await;
}

#[tokio::test]
async fn failure_19_texts_with_udh_arrive_whole() {
    check_all_texts(Scenario::with(Script::new()).await).await;
}

#[tokio::test]
async fn failure_19_texts_with_sar_tlvs_arrive_whole() {
    check_all_texts(Scenario::with_settings(Script::new(), "long_messages = \"sar\"").await).await;
}

#[tokio::test]
async fn failure_19_texts_in_message_payload_arrive_whole() {
    let s = Scenario::with_settings(Script::new(), "long_messages = \"payload\"").await;
    let record = s.carrier().record();
    check_all_texts(s).await;
    assert_eq!(record.counts().submits, texts().len() as u64, "one submit_sm each");
}

#[tokio::test]
async fn failure_19_texts_for_coding_0_as_latin_1_arrive_whole() {
    let script = Script::new().default_alphabet(CodingZeroAlphabet::Latin1);
    let s = Scenario::with_settings(script, "alphabet = \"latin1\"").await;
    let mut messages = Vec::new();
    let fitting =
        ["@ $ _ [brackets] {braces} ~ \\ |", "\u{e9}\u{e8}\u{f9}\u{ec}\u{f2}\u{c7}", "10 € only, and Ω"];
    for text in fitting {
        messages.push(s.alice.send(TO, text).await.accepted());
    }
    for message in &messages {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert_eq!(s.carrier_texts(), fitting);
    s.end().await;
}

#[tokio::test]
async fn failure_19_long_text_with_a_character_that_latin_1_lacks_is_sent_in_ucs2_parts() {
    let script = Script::new().default_alphabet(CodingZeroAlphabet::Latin1);
    let s = Scenario::with_settings(script, "alphabet = \"latin1\"").await;
    // 100 characters are one part of GSM-7 and two of UCS-2, 200 are two and three.
    let texts = [format!("{}€", "a".repeat(99)), format!("{}Ω{}", "b".repeat(150), "c".repeat(49))];
    let mut messages = Vec::new();
    for text in &texts {
        messages.push(s.alice.send(TO, text).await.accepted());
    }
    // Charged as GSM-7: one part and two parts.
    s.alice.assert_balance("99.85").await;
    for message in &messages {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert_eq!(s.carrier_texts(), texts);
    let submits = s.carrier().record().submits();
    assert_eq!(submits.len(), 5);
    assert!(submits.iter().all(|submit| submit.data_coding == 0x08), "all parts are UCS-2");
    s.end().await;
}

#[tokio::test]
async fn submit_sm_fields_follow_the_carrier_profile() {
    let settings = "plus = true\nservice_type = \"CMT\"\nregistered_delivery = 17\nvalidity = \"absolute\"\n\
        destination = \"2/8\"\nsource = { alphanumeric = \"5/1\" }\n\
        tlvs = [{ tag = 0x1401, hex = \"00ff\" }]\nsenders = [{ country = \"DE\", to = \"NewName\" }]";
    let s = Scenario::with_settings(Script::new(), settings).await;
    super::send_and_wait_for_delivery(&s, "by the book").await;
    let submits = s.carrier().record().submits();
    let submit = &submits[0];
    assert_eq!((submit.source.as_str(), submit.source_kind), ("NewName", (5, 1)));
    assert_eq!((submit.destination.as_str(), submit.destination_kind), (TO, (2, 8)));
    assert_eq!((submit.service_type.as_str(), submit.registered_delivery), ("CMT", 17));
    assert!(submit.validity_period.ends_with("000+"), "{}", submit.validity_period);
    assert_eq!(submit.tlv(0x1401), Some(&[0x00, 0xFF][..]));
    s.end().await;
}
