//! Third-party SMPP libraries with every bind type, plain and over TLS: every kind of message is accepted, every receipt is
//! correct, and unbinding works.

use super::fixture::{SENDER, Stage};
use super::messages::{self, DESTINATION, REFERENCE, SENT};
use super::script::{Binds, Customer, Library, Saw};
use serde_json::{Value, json};
use std::collections::HashMap;

#[tokio::test]
async fn python_smpplib_sends_every_kind_of_message_and_gets_its_receipts() {
    check_library(Library::Python).await;
}

#[tokio::test]
async fn node_smpp_sends_every_kind_of_message_and_gets_its_receipts() {
    check_library(Library::Node).await;
}

#[tokio::test]
async fn perl_net_smpp_sends_every_kind_of_message_and_gets_its_receipts() {
    check_library(Library::Perl).await;
}

async fn check_library(library: Library) {
    let stage = Stage::set().await;
    let visits =
        [(Binds::Transceiver, false), (Binds::Pair, false), (Binds::Transceiver, true), (Binds::Pair, true)];
    for (binds, over_tls) in visits {
        let customer = Customer::new(library, binds, over_tls);
        let saw = customer.run(&stage, &messages::messages()).await;
        println!("{customer:?}");
        check_links(&saw, customer);
        let ids = check_answers(&saw);
        check_receipts(&saw, &ids, binds);
        check_query(&saw, &ids, customer);
    }
    messages::check(&stage.carrier(), visits.len());
    let stranger = Customer { password: "wrong", ..Customer::new(library, Binds::Transceiver, false) };
    let saw = stranger.run(&stage, &messages::messages()).await;
    let statuses: Vec<_> = saw.all("bind").iter().map(|bind| bind["status"].as_u64()).collect();
    assert_eq!((statuses, saw.all("submit").len()), (vec![Some(0x0e)], 0));
    stage.end().await;
}

/// Returns the names of a customer's binds in the order of bind and of unbind.
fn links(binds: Binds) -> (&'static [&'static str], &'static [&'static str]) {
    match binds {
        Binds::Transceiver => (&["bind_transceiver"], &["bind_transceiver"]),
        Binds::Pair => (&["bind_receiver", "bind_transmitter"], &["bind_transmitter", "bind_receiver"]),
    }
}

#[track_caller]
fn check_links(saw: &Saw, customer: Customer) {
    let field = |what, name: &str| saw.all(what).iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    let (coming, leaving) = links(customer.binds);
    assert_eq!(field("bind", "command"), coming);
    for bind in saw.all("bind") {
        let version = bind["sc_interface_version"].as_u64();
        assert_eq!((&bind["status"], version), (&json!(0), Some(0x34)), "{bind}");
        assert_eq!(bind["tls"], customer.over_tls);
    }
    assert_eq!(field("enquire_link", "status"), [json!(0)]);
    assert_eq!(
        (field("unbind", "bound_as"), field("close", "bound_as")),
        (json_all(leaving), json_all(leaving))
    );
    assert!(field("unbind", "status").iter().all(|status| status == 0), "each unbind is answered");
    assert_eq!(saw.all("error").len(), 0);
}

fn json_all(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!(text)).collect()
}

/// Returns the message ids by name, in order.
#[track_caller]
fn check_answers(saw: &Saw) -> HashMap<String, Vec<String>> {
    let mut ids: HashMap<String, Vec<String>> = HashMap::new();
    for submit in saw.all("submit") {
        let name = submit["name"].as_str().expect("a name");
        if name == "refused" {
            assert_eq!(submit["status"], 0x0b, "the session continues: {submit}");
            continue;
        }
        assert_eq!(submit["status"], 0, "{submit}");
        let id = submit["message_id"].as_str().expect("an id");
        let digits = id.bytes().all(|octet| octet.is_ascii_digit());
        assert!((10..=18).contains(&id.len()) && digits && !id.starts_with('0'), "{submit}");
        ids.entry(name.to_owned()).or_default().push(id.to_owned());
    }
    for (name, messages, _) in SENT {
        assert_eq!(ids[name].len(), messages, "{name}");
    }
    ids
}

#[track_caller]
fn check_receipts(saw: &Saw, ids: &HashMap<String, Vec<String>>, binds: Binds) {
    let receipts = saw.all("receipt");
    let total: usize = SENT.iter().map(|(_, messages, _)| messages).sum();
    assert_eq!(receipts.len(), total, "one receipt for each message");
    for (name, _, parts) in SENT {
        for id in &ids[name] {
            let is_its = |receipt: &&&Value| receipt["receipted_message_id"] == json!(id);
            let receipt = receipts.iter().find(is_its).unwrap_or_else(|| panic!("none for {name} {id}"));
            check_receipt(receipt, id, parts);
            let reference = if name == "short" { json!(REFERENCE) } else { Value::Null };
            assert_eq!(receipt["user_message_reference"], reference, "{receipt}");
            assert_eq!(receipt["bound_as"], links(binds).0[0], "{receipt}");
        }
    }
}

#[track_caller]
fn check_receipt(receipt: &Value, id: &str, parts: usize) {
    let text = receipt["text"].as_str().expect("a text");
    let (before, after) = text.split_once(" submit date:").expect("a date");
    let (submitted, after) = after.split_once(" done date:").expect("a second date");
    let (done, after) = after.split_at_checked(10).expect("the date is 10 digits");
    assert_eq!(before, format!("id:{id} sub:{parts:03} dlvrd:{parts:03}"));
    assert_eq!(after, " stat:DELIVRD err:000 text:");
    for date in [submitted, done] {
        let digits = date.bytes().all(|octet| octet.is_ascii_digit());
        assert!(date.len() == 10 && digits && date <= done, "{text}");
    }
    let wanted = json!({
        "esm_class": 4, "data_coding": 0, "registered_delivery": 0, "message_state": 2,
        "source": DESTINATION, "source_ton": 1, "destination": SENDER, "destination_ton": 5,
    });
    for (field, value) in wanted.as_object().expect("fields") {
        assert_eq!(&receipt[field], value, "{field} of {receipt}");
    }
}

#[track_caller]
fn check_query(saw: &Saw, ids: &HashMap<String, Vec<String>>, customer: Customer) {
    let queries = saw.all("query");
    // smpplib does not allow query_sm on a transmitter.
    let can_ask = customer.library != Library::Python || customer.binds == Binds::Transceiver;
    assert_eq!(queries.len(), usize::from(can_ask));
    for query in queries {
        let wanted = json!({ "saw": "query", "status": 0, "message_id": ids["short"][0], "message_state": 2,
                             "error_code": 0, "final": true });
        assert_eq!(*query, wanted);
    }
}
