//! Carrier profiles: a third-party library reads what the profile configures.

use super::messages::{STEP, gateway_at, send_and_wait_for_delivery, texts};
use super::{Library, Smsc};
use crate::https::write_pair;
use serde_json::{Value, json};

/// Returns a text of three parts in GSM-7 with escaped characters.
fn long_text() -> String {
    "Hermod rode nine nights through {deep} and dark valleys for 5 € a night. ".repeat(6)
}

#[tokio::test]
async fn transmitter_receiver_pair_works_like_a_transceiver() {
    for library in Library::ALL {
        let smsc = Smsc::start(library);
        let s = gateway_at(&smsc, "binds = \"transmitter-and-receiver\"\n").await;
        let binds = s.advance_until(STEP, || smsc.wait_for(2, "bind")).await;
        let mut commands: Vec<_> = binds.iter().map(|bind| bind["command"].as_str()).collect();
        commands.sort_unstable();
        assert_eq!(commands, [Some("bind_receiver"), Some("bind_transmitter")], "{library:?}");
        send_and_wait_for_delivery(&s, "out here, back there").await;
        assert_eq!(smsc.seen("submit")[0]["bound_as"], "bind_transmitter", "{library:?}");
        assert_eq!(smsc.wait_for(1, "deliver_sm_resp").await[0]["bound_as"], "bind_receiver", "{library:?}");
        s.end().await;
        assert_eq!(smsc.seen("unbind").len(), 2, "{library:?}: both binds are unbound");
        smsc.stop();
    }
}

#[tokio::test]
async fn long_message_is_joined_by_the_library_with_sar_or_payload() {
    for library in Library::ALL {
        for (long_messages, parts, sar, payload) in [("sar", 3, true, false), ("payload", 1, false, true)] {
            let smsc = Smsc::start(library);
            let s = gateway_at(&smsc, &format!("long_messages = \"{long_messages}\"\n")).await;
            let text = long_text();
            send_and_wait_for_delivery(&s, &text).await;
            send_and_wait_for_delivery(&s, "and a short one").await;
            assert_eq!(texts(&smsc.wait_for(2, "message").await), [&text, "and a short one"], "{library:?}");
            let submits = smsc.seen("submit");
            assert_eq!(submits.len(), parts + 1, "{library:?} {long_messages}");
            for submit in &submits[..parts] {
                assert_eq!((&submit["sar"], &submit["payload"]), (&json!(sar), &json!(payload)), "{submit}");
                assert_eq!(submit["esm_class"], 0, "{library:?} {long_messages}: there is no header");
            }
            s.end().await;
            smsc.stop();
        }
    }
}

#[tokio::test]
async fn receipt_ids_in_the_other_base_are_matched() {
    for (library, ids) in [(Library::Node, "hex-to-decimal"), (Library::Twisted, "decimal-to-hex")] {
        let smsc = Smsc::start_with(library, json!({ "receipt_ids": "converted" }));
        let s = gateway_at(&smsc, &format!("ids = \"{ids}\"\n")).await;
        send_and_wait_for_delivery(&s, "short").await;
        send_and_wait_for_delivery(&s, &long_text()).await;
        let answered = smsc.seen("submit")[0]["message_id"].clone();
        let received = smsc.wait_for(4, "deliver_sm_resp").await[0]["id"].clone();
        let pair = match library {
            Library::Node => (json!("812FC7470000001B"), json!("9308878062554710043")),
            Library::Twisted => (json!("9000001"), json!("895441")),
        };
        assert_eq!((answered, received), pair, "{library:?}");
        s.end().await;
        smsc.stop();
    }
}

#[tokio::test]
async fn submit_sm_fields_follow_the_profile() {
    let more = "plus = true\nservice_type = \"GW\"\ndestination = \"0/1\"\nsource = { alphanumeric = \"0/0\" }\n\
                tlvs = [{ tag = 0x1400, text = \"promo\" }]\n";
    for library in Library::ALL {
        for (validity, hours, at) in
            [("relative", true, false), ("absolute", false, true), ("off", false, false)]
        {
            let smsc = Smsc::start(library);
            let s = gateway_at(&smsc, &format!("{more}validity = \"{validity}\"\n")).await;
            send_and_wait_for_delivery(&s, "as you like it").await;
            let submit = smsc.seen("submit").remove(0);
            let wanted = json!({
                "source": "Hermod", "source_ton": 0, "destination": "+4915112345678", "destination_ton": 0,
                "service_type": "GW", "text": "as you like it",
            });
            for (field, value) in wanted.as_object().expect("fields") {
                assert_eq!(&submit[field], value, "{library:?}: {field}");
            }
            check_validity(library, &submit, hours, at);
            if let Library::Node = library {
                // The other library ignores unknown TLVs.
                assert_eq!(submit["vendor"], json!({ "5120": "70726f6d6f" }));
            }
            s.end().await;
            smsc.stop();
        }
    }
}

/// The scenario clock starts on 15 November at midnight, and the validity is three days.
fn check_validity(library: Library, submit: &Value, relative: bool, absolute: bool) {
    let at = submit["validity_at"].as_str();
    if relative {
        let hours = submit["validity_hours"].as_u64().expect("hours");
        assert!((71..=72).contains(&hours), "{library:?}: {submit}");
    } else if absolute {
        assert!(at.is_some_and(|at| at.starts_with("2026-11-18T00:")), "{library:?}: {submit}");
    } else {
        assert_eq!((at, &submit["validity_hours"]), (None, &Value::Null), "{library:?}");
    }
}

#[tokio::test]
async fn text_is_encoded_in_the_alphabet_that_the_carrier_uses_for_coding_0() {
    // smpp.twisted3 reads coding 0 as ASCII.
    let smsc = Smsc::start_with(Library::Twisted, json!({ "ascii": true }));
    let s = gateway_at(&smsc, "alphabet = \"ascii\"\n").await;
    let wanted = ["$5 @home_now [or] {never}?", "10 € or £8, à la carte"];
    for text in wanted {
        send_and_wait_for_delivery(&s, text).await;
    }
    assert_eq!(texts(&smsc.wait_for(2, "message").await), wanted);
    let codings: Vec<_> = smsc.seen("submit").iter().map(|submit| submit["data_coding"].as_u64()).collect();
    assert_eq!(codings, [Some(0), Some(8)], "text outside ASCII is sent in UCS-2");
    s.end().await;
    smsc.stop();
}

#[tokio::test]
async fn carrier_with_a_pinned_tls_certificate_is_bound() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_pair(folder.path());
    let (key, cert) = (folder.path().join("key.pem"), folder.path().join("chain.pem"));
    let smsc = Smsc::start_with(Library::Node, json!({ "tls": { "key": key, "cert": cert } }));
    let trust = format!("tls = {{ name = \"localhost\", ca = \"{}\" }}\n", cert.display());
    let s = gateway_at(&smsc, &trust).await;
    assert_eq!(smsc.seen("bind")[0]["tls"], true);
    send_and_wait_for_delivery(&s, "over TLS").await;
    assert_eq!(texts(&smsc.seen("message")), ["over TLS"]);
    s.end().await;
    assert_eq!(smsc.seen("unbind").len(), 1);
    smsc.stop();
}
