//! Customers who bind, and are told over HTTP all the same: because they only transmit, or because they want both.

use super::*;
use crate::scenario::Esme;
use hermod_simulator::carrier::Outcome;
use hermod_smpp::{Address, BindType, Hidden, SubmitSm};

fn message(registered_delivery: u8) -> SubmitSm<'static> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        registered_delivery,
        short_message: Hidden(b"hello"),
        ..SubmitSm::default()
    }
}

async fn stage(hooks: &WebhookReceiver, script: Script, lines: &str) -> Scenario {
    let s = alice_is_told_at(hooks, script).await;
    s.operator_provisions(&format!(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{lines}"
    ))
    .await;
    s
}

#[tokio::test]
async fn whoever_only_transmits_is_told_every_change_after_a_minute_without_a_receiver() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let script = Script::new().enroute_after(Duration::ZERO).receipt_after(A_MOMENT, Outcome::Delivered);
    let s = stage(&hooks, script, "").await;
    s.skip(Duration::from_secs(61));
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    // It asked for nothing, and is told everything: there is no other way to tell it.
    let id = transmitter.submits(message(0)).await;
    let caught = posts(&hooks, 2).await;
    let told: Vec<Value> = caught.iter().map(body).collect();
    assert!(told.iter().all(|told| told["message_id"] == id.as_str()), "{told:?}");
    assert_eq!((&told[0]["status"], &told[1]["status"]), (&"ACCEPTD".into(), &"DELIVRD".into()));
    drop(transmitter);
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn whoever_wants_both_is_told_both_ways() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = stage(&hooks, Script::new(), "webhooks_too = true\n").await;
    let mut bound = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = bound.submits(message(1)).await;
    assert_eq!(bound.gets_receipt().await.get("id"), id);
    assert_eq!(body(&posts(&hooks, 1).await[0])["message_id"], id.as_str());
    bound.unbinds().await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn whoever_is_bound_to_receive_is_not_told_over_http() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = stage(&hooks, Script::new(), "").await;
    let mut bound = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = bound.submits(message(1)).await;
    assert_eq!(bound.gets_receipt().await.get("id"), id);
    comes_to(&hooks, 0).await;
    bound.unbinds().await;
    hooks.stop().await;
    s.end().await;
}
