//! Messages and receipts through third-party carriers: texts arrive as sent, and receipts set the
//! status that the customer reads.

use super::{Library, REFUSED, Smsc};
use crate::scenario::Scenario;
use serde_json::{Value, json};
use std::time::Duration;

const TO: &str = "+4915112345678";
pub(super) const STEP: Duration = Duration::from_secs(2);

/// Starts a gateway bound to this carrier.
pub(super) async fn gateway_at(smsc: &Smsc, more: &str) -> Scenario {
    let s = Scenario::without_carrier().await;
    s.provision(&Scenario::carrier_entry(smsc.address, more)).await;
    s.advance_until(STEP, || smsc.wait_for(1, "bind")).await;
    s
}

pub(super) async fn send_and_wait_for_delivery(s: &Scenario, text: &str) {
    let message = s.alice.send(TO, text).await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
}

pub(super) fn texts(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["text"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn text_of_every_encoding_arrives_as_sent_and_its_receipt_is_matched() {
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
            send_and_wait_for_delivery(&s, text).await;
        }
        let messages = smsc.wait_for(wanted.len(), "message").await;
        assert_eq!(texts(&messages), wanted, "{library:?}");
        let parts: Vec<_> = messages.iter().map(|message| message["parts"].as_u64()).collect();
        assert_eq!(parts, [Some(1), Some(1), Some(1), Some(3), Some(3)], "{library:?}");
        check_fields(library, &smsc.seen("submit"));
        s.end().await;
        smsc.stop();
    }
}

/// Checks the other fields that the library received.
fn check_fields(library: Library, submits: &[Value]) {
    for submit in submits {
        let single = submit["place"].is_null();
        let ucs2 = submit["text"].as_str().expect("a text").contains(|c| "ПАÅ🐎🌈".contains(c));
        assert_eq!(
            (&submit["source"], &submit["source_ton"], &submit["destination"], &submit["destination_ton"]),
            (&json!("Hermod"), &json!(5), &json!("4915112345678"), &json!(1)),
            "{library:?}"
        );
        assert_eq!(submit["registered_delivery"], 1, "{library:?}: every part requests a receipt");
        assert_eq!(submit["esm_class"], if single { 0 } else { 0x40 }, "{library:?}: {submit}");
        if !single {
            assert_eq!(submit["data_coding"], if ucs2 { 8 } else { 0 }, "{library:?}: {submit}");
        }
    }
    let codings: Vec<_> = submits.iter().take(3).map(|submit| submit["data_coding"].as_u64()).collect();
    assert_eq!(codings, [Some(0), Some(0), Some(8)], "{library:?}");
}

#[tokio::test]
async fn rejected_destination_is_undeliverable_and_the_link_stays_bound() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        let refused = s.alice.send(&format!("+{REFUSED}"), "rejected").await.accepted();
        s.alice.status_of(&refused).becomes("undeliverable").await;
        assert_eq!(s.alice.status_record(&refused).await["dlr"], "UNDELIV", "{library:?}");
        send_and_wait_for_delivery(&s, "accepted").await;
        assert_eq!(smsc.seen("bind").len(), 1, "{library:?}: one bind for both messages");
        assert_eq!(smsc.seen("submit").len(), 2, "{library:?}: a rejected submit is not retried");
        s.end().await;
        smsc.stop();
    }
}

#[tokio::test]
async fn receipts_are_answered_and_a_stopping_gateway_unbinds() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        let bind = smsc.seen("bind").remove(0);
        assert_eq!(
            (&bind["command"], &bind["system_id"], &bind["interface_version"], &bind["status"]),
            (&json!("bind_transceiver"), &json!("hermod"), &json!(0x34), &json!(0)),
            "{library:?}"
        );
        send_and_wait_for_delivery(&s, "with a receipt").await;
        let answered = smsc.wait_for(1, "deliver_sm_resp").await;
        assert_eq!(answered[0]["status"], 0, "{library:?}");
        assert_eq!(smsc.seen("unbind").len(), 0, "{library:?}");
        s.end().await;
        assert_eq!(smsc.seen("unbind").len(), 1, "{library:?}: the unbind was answered");
        smsc.wait_for(1, "close").await;
        smsc.stop();
    }
}

#[tokio::test]
async fn idle_link_sends_and_answers_enquire_link() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "").await;
        send_and_wait_for_delivery(&s, "before").await;
        // In steps shorter than the response timeout, so that a slow machine does not look like a dead link.
        s.advance_until(Duration::from_secs(8), || smsc.wait_for(1, "enquire_link")).await;
        let answered = smsc.wait_for(1, "enquire_link_resp").await;
        assert_eq!(answered[0]["status"], 0, "{library:?}");
        send_and_wait_for_delivery(&s, "still there").await;
        s.end().await;
        smsc.stop();
    }
}

#[tokio::test]
async fn wrong_password_is_rejected_and_the_right_one_binds() {
    for library in Library::ALL {
        let smsc = Smsc::start_with(library, json!({ "password": "changed" }));
        let s = gateway_at(&smsc, "").await;
        assert_eq!(smsc.seen("bind")[0]["status"], 0x0E, "{library:?}");
        let message = s.alice.send(TO, "waits for the password").await.accepted();
        s.pause_briefly().await;
        s.alice.status_of(&message).is("queued").await;
        let entry = Scenario::carrier_entry(smsc.address, "").replace("\"secret\"", "\"changed\"");
        s.provision(&entry).await;
        s.advance_until(STEP, || s.alice.status_of(&message).becomes("delivered")).await;
        assert_eq!(texts(&smsc.seen("message")), ["waits for the password"], "{library:?}");
        s.end().await;
        smsc.stop();
    }
}
