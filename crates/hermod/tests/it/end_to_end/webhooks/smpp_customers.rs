//! Webhooks of SMPP customers: without a receiver, and with `webhooks_too`.

use super::*;
use crate::scenario::Esme;
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

async fn start_scenario(hooks: &WebhookReceiver, script: Script, lines: &str) -> Scenario {
    let s = scenario_with_webhook(hooks, script).await;
    s.provision(&format!(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{lines}"
    ))
    .await;
    s
}

#[tokio::test]
async fn transmitter_without_a_receiver_for_a_minute_gets_every_change_by_webhook() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = start_scenario(&hooks, enroute_only(), "").await;
    s.skip(Duration::from_secs(61));
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    // All changes are posted although registered_delivery is 0.
    let id = transmitter.submit(message(0)).await;
    wait_for_posts(&hooks, 1).await;
    s.deliver_last_message();
    let caught = wait_for_posts(&hooks, 2).await;
    let posted: Vec<Value> = caught.iter().map(body).collect();
    assert!(posted.iter().all(|posted| posted["message_id"] == id.as_str()), "{posted:?}");
    assert_eq!((&posted[0]["status"], &posted[1]["status"]), (&"ACCEPTD".into(), &"DELIVRD".into()));
    drop(transmitter);
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn connection_with_webhooks_too_gets_receipt_and_webhook() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = start_scenario(&hooks, Script::new(), "webhooks_too = true\n").await;
    let mut bound = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = bound.submit(message(1)).await;
    assert_eq!(bound.take_receipt().await.get("id"), id);
    assert_eq!(body(&wait_for_posts(&hooks, 1).await[0])["message_id"], id.as_str());
    bound.unbind().await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn connection_with_a_receiver_bound_gets_no_webhook() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = start_scenario(&hooks, Script::new(), "").await;
    let mut bound = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = bound.submit(message(1)).await;
    assert_eq!(bound.take_receipt().await.get("id"), id);
    assert_post_count(&hooks, 0).await;
    bound.unbind().await;
    hooks.stop().await;
    s.end().await;
}
