//! What a customer sends must be what a library that is not ours reads, and what that library reports must be what the
//! customer sees.

use super::{Library, REFUSED, Smsc};
use crate::scenario::Scenario;
use serde_json::{Value, json};
use std::time::Duration;

const TO: &str = "+4915112345678";
pub(super) const STEP: Duration = Duration::from_secs(2);

/// A gateway whose only carrier is this one, bound to it.
pub(super) async fn gateway_at(smsc: &Smsc, more: &str) -> Scenario {
    let s = Scenario::without_carrier().await;
    s.operator_provisions(&Scenario::carrier_entry(smsc.address, more)).await;
    s.stepping(STEP, || smsc.sees(1, "bind")).await;
    s
}

pub(super) async fn sends_and_sees_delivered(s: &Scenario, text: &str) {
    let message = s.alice.sends(TO, text).await.accepted();
    s.alice.sees(&message).becomes("delivered").await;
}

pub(super) fn texts(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["text"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn every_kind_of_text_is_read_as_it_was_written_and_its_receipt_is_understood() {
    let long_gsm = "Hermod rode nine nights through {deep} and dark valleys for 5 € a night. ".repeat(6);
    let long_ucs2 = "Grüße aus Åsgard 🐎🌈 ".repeat(7);
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        let wanted = [
            "Hello @ all: £1 = $1.30, Ñandu à la Ångström_Δ",
            "10 € [in] {these} |pipes| ^up^ ~about~ C:\\",
            "Привет, 世界 🌍",
            &long_gsm,
            &long_ucs2,
        ];
        for text in wanted {
            sends_and_sees_delivered(&s, text).await;
        }
        let messages = smsc.sees(wanted.len(), "message").await;
        assert_eq!(texts(&messages), wanted, "{library:?}");
        let parts: Vec<_> = messages.iter().map(|message| message["parts"].as_u64()).collect();
        assert_eq!(parts, [Some(1), Some(1), Some(1), Some(3), Some(3)], "{library:?}");
        check_fields(library, &smsc.seen("submit"));
        s.end().await;
        smsc.stop();
    }
}

/// What the library read beside the text.
fn check_fields(library: Library, submits: &[Value]) {
    for submit in submits {
        let single = submit["place"].is_null();
        let ucs2 = submit["text"].as_str().expect("a text").contains(|c| "ПАÅ🐎🌈".contains(c));
        assert_eq!(
            (&submit["source"], &submit["source_ton"], &submit["destination"], &submit["destination_ton"]),
            (&json!("Hermod"), &json!(5), &json!("4915112345678"), &json!(1)),
            "{library:?}"
        );
        assert_eq!(submit["registered_delivery"], 1, "{library:?}: a receipt is asked for on every part");
        assert_eq!(submit["esm_class"], if single { 0 } else { 0x40 }, "{library:?}: {submit}");
        if !single {
            assert_eq!(submit["data_coding"], if ucs2 { 8 } else { 0 }, "{library:?}: {submit}");
        }
    }
    let codings: Vec<_> = submits.iter().take(3).map(|submit| submit["data_coding"].as_u64()).collect();
    assert_eq!(codings, [Some(0), Some(0), Some(8)], "{library:?}");
}

#[tokio::test]
async fn a_destination_the_carrier_refuses_is_undeliverable_and_the_link_goes_on() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        let refused = s.alice.sends(&format!("+{REFUSED}"), "nobody there").await.accepted();
        s.alice.sees(&refused).becomes("undeliverable").await;
        assert_eq!(s.alice.asks_for(&refused).await["dlr"], "UNDELIV", "{library:?}");
        sends_and_sees_delivered(&s, "somebody there").await;
        assert_eq!(smsc.seen("bind").len(), 1, "{library:?}: one link for both");
        assert_eq!(smsc.seen("submit").len(), 2, "{library:?}: a refusal is not tried again");
        s.end().await;
        smsc.stop();
    }
}

#[tokio::test]
async fn receipts_are_answered_and_a_gateway_that_stops_unbinds_first() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        let bind = smsc.seen("bind").remove(0);
        assert_eq!(
            (&bind["command"], &bind["system_id"], &bind["interface_version"], &bind["status"]),
            (&json!("bind_transceiver"), &json!("hermod"), &json!(0x34), &json!(0)),
            "{library:?}"
        );
        sends_and_sees_delivered(&s, "with a receipt").await;
        let answered = smsc.sees(1, "deliver_sm_resp").await;
        assert_eq!(answered[0]["status"], 0, "{library:?}");
        assert_eq!(smsc.seen("unbind").len(), 0, "{library:?}");
        s.end().await;
        assert_eq!(smsc.seen("unbind").len(), 1, "{library:?}: it had to answer before we were gone");
        smsc.sees(1, "close").await;
        smsc.stop();
    }
}

#[tokio::test]
async fn an_idle_link_is_asked_for_and_answers_when_asked() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        sends_and_sees_delivered(&s, "before").await;
        // In steps shorter than an answer may take, so that a slow machine is not taken for a dead link.
        s.stepping(Duration::from_secs(8), || smsc.sees(1, "enquire_link")).await;
        let answered = smsc.sees(1, "enquire_link_resp").await;
        assert_eq!(answered[0]["status"], 0, "{library:?}");
        sends_and_sees_delivered(&s, "still there").await;
        s.end().await;
        smsc.stop();
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_the_right_one_binds() {
    for library in Library::ALL {
        let smsc = Smsc::start_with(library, json!({ "password": "changed" }));
        let s = gateway_at(&smsc, "").await;
        assert_eq!(smsc.seen("bind")[0]["status"], 0x0E, "{library:?}");
        let message = s.alice.sends(TO, "waits for the password").await.accepted();
        s.a_moment_passes().await;
        s.alice.sees(&message).is("queued").await;
        let entry = Scenario::carrier_entry(smsc.address, "").replace("\"secret\"", "\"changed\"");
        s.operator_provisions(&entry).await;
        s.stepping(STEP, || s.alice.sees(&message).becomes("delivered")).await;
        assert_eq!(texts(&smsc.seen("message")), ["waits for the password"], "{library:?}");
        s.end().await;
        smsc.stop();
    }
}
