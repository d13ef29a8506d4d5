//! Every API operation and every PDU that takes an id, called with another account's ids: the response is the one for an id
//! that does not exist, in status and text, so that it does not reveal that the id is in use.

use crate::scenario::{Esme, HttpAnswer, Scenario};
use hermod_simulator::carrier::{MoText, Script};
use hermod_smpp::{
    Address, BindType, CancelSm, CommandId, CommandStatus, Hidden, Pdu, QuerySm, ReplaceSm, SubmitSm,
};
use std::time::Duration;

const TO: &str = "+4915112345678";
const ALICES_NUMBER: &str = "4915799999999";
/// Valid ids that were never assigned: a long one, and a short one of SMPP 3.3.
const ABSENT: [&str; 2] = ["15506713804701696", "7fffffff"];

/// Starts a scenario in which both bind, and alice owns a number and a sender.
async fn start_scenario(script: Script) -> Scenario {
    let s = Scenario::with(script).await;
    let mut text = format!(
        "[[number]]\nnumber = \"+{ALICES_NUMBER}\"\naccount = \"alice\"\n\
         [[sender]]\nsender = \"AliceShop\"\naccount = \"alice\"\n"
    );
    for name in ["alice", "bob"] {
        text.push_str(&format!(
            "[[connection]]\nname = \"{name}-smpp\"\naccount = \"{name}\"\ndefault_sender = \"Hermod\"\n\
             system_id = \"{name}\"\npassword = \"secret12\"\n"
        ));
    }
    s.provision(&text).await;
    s
}

fn submit<'a>(from: &'a str, text: &'a str) -> SubmitSm<'a> {
    SubmitSm {
        source: Address::alphanumeric(from.as_bytes()),
        destination: Address::international(b"4915112345678"),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    }
}

/// Returns a response without the id of its request.
fn response_without_id(answer: &HttpAnswer) -> (u16, String, Option<&str>) {
    (answer.status, answer.body.to_string(), answer.headers.get("x-error-code").map(String::as_str))
}

/// Returns ids of alice's messages: sent over HTTP and SMPP, with a short id, and received.
async fn ids_of_alice(s: &Scenario) -> Vec<String> {
    let by_http = s.alice.send(TO, "by http").await.accepted();
    let mut bound = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let by_smpp = bound.submit(submit("AliceShop", "by smpp")).await;
    bound.take_receipt().await;
    let mut old = Esme::connect(s.smpp_address()).await;
    assert_eq!(old.try_bind(BindType::Transmitter, "alice", "secret12", 0x33).await, CommandStatus::OK);
    let short = old.submit(submit("AliceShop", "under a short id")).await;
    bound.take_receipt().await;
    s.carrier().send_mo_parts(MoText::new("4915112345678", ALICES_NUMBER, "received").parts());
    s.alice.wait_for_inbound(1).await;
    bound.take_mo().await;
    let page = s.alice.get("/api/v1/inbound").await.body;
    let received = page["messages"][0]["message_id"].as_str().expect("every message has an id").to_owned();
    vec![by_http, by_smpp, short, received]
}

#[tokio::test]
async fn ids_of_another_account_are_answered_like_ids_that_do_not_exist_over_http() {
    let s = start_scenario(Script::new()).await;
    let ids = ids_of_alice(&s).await;
    // A new operation needs a check here.
    let document: serde_json::Value = s.bob.get("/openapi.json").await.body;
    let paths: Vec<&String> = document["paths"].as_object().expect("paths").keys().collect();
    assert_eq!(paths, ["/balance", "/inbound", "/sms", "/sms/{id}"]);

    // GET /sms/{id}
    let absent = response_without_id(&s.bob.get_message(ABSENT[0]).await).1;
    for id in ids.iter().map(String::as_str).chain(ABSENT) {
        let answer = s.bob.get_message(id).await;
        assert_eq!(response_without_id(&answer), (404, absent.clone(), Some("NOT_FOUND")), "{id}");
    }
    // GET /inbound: bob does not get alice's messages with her cursor.
    for since in [0, 1, 2] {
        assert_eq!(s.bob.read_inbound(since).await, [], "since={since}");
    }
    // GET /balance
    s.bob.assert_balance("100").await;
    // POST /sms: alice's sender, and an idempotency key that alice has used.
    let body = serde_json::json!({"to": TO, "text": "as alice", "from": "AliceShop"}).to_string();
    let foreign = s.bob.post_body(&body).await;
    let unknown = s.bob.post_body(&body.replace("AliceShop", "BobsShop1")).await;
    assert_eq!(
        (foreign.status, foreign.headers.get("x-error-code")),
        (403, unknown.headers.get("x-error-code"))
    );
    assert_eq!(foreign.body.to_string().replace("AliceShop", "BobsShop1"), unknown.body.to_string());
    let hers = s.alice.send_with_key(TO, "hers", "order-1").await.accepted();
    let his = s.bob.send_with_key(TO, "his", "order-1").await.accepted();
    assert_ne!(hers, his);
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn ids_of_another_account_are_answered_like_ids_that_do_not_exist_over_smpp() {
    let s = start_scenario(Script::new()).await;
    let mut ids = ids_of_alice(&s).await;
    s.wait_until_no_open_parts().await;
    // A queued message, so that cancelling it would have an effect.
    s.carrier().close_port().await;
    ids.push(s.alice.send(TO, "waits").await.accepted());

    let mut bob = Esme::bind(s.smpp_address(), BindType::Transceiver, "bob").await;
    for id in ids.iter().map(String::as_str).chain(ABSENT) {
        let message_id = id.as_bytes();
        for (pdu, expect) in [
            (Pdu::QuerySm(QuerySm { message_id, ..QuerySm::default() }), CommandStatus::INVMSGID),
            (Pdu::CancelSm(CancelSm { message_id, ..CancelSm::default() }), CommandStatus::INVMSGID),
            // replace_sm is not supported for any message.
            (Pdu::ReplaceSm(ReplaceSm { message_id, ..ReplaceSm::default() }), CommandStatus::REPLACEFAIL),
        ] {
            // query_sm has its own rate limit.
            s.skip(Duration::from_secs(1));
            let answer = bob.request(&pdu).await;
            assert_eq!((answer.header.status, answer.header.length), (expect, 16), "{pdu:?}");
        }
    }
    // Bob cannot use alice's sender and gets none of her messages.
    assert_eq!(bob.try_submit(submit("AliceShop", "as alice")).await, Err(CommandStatus::INVSRCADR));
    bob.assert_nothing_received().await;
    let waits = ids.last().expect("it was just sent");
    s.alice.status_of(waits).is("queued").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let cancel = CancelSm { message_id: waits.as_bytes(), ..CancelSm::default() };
    let answer = alice.request(&Pdu::CancelSm(cancel)).await;
    assert_eq!((answer.header.command, answer.header.status), (CommandId::CANCEL_SM_RESP, CommandStatus::OK));
    drop((alice, bob));
    s.end().await;
}
