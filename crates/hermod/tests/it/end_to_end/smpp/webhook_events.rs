//! SMPP customers with a webhook: which reports become webhook events. The events are read from the store; no server
//! listens at the address.

use super::provision_alice_smpp;
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, Scenario, message};
use crate::store_access::account_id;
use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::{BindType, SubmitSm};
use hermod_store::WebhookFilter;
use std::time::Duration;

/// Starts a scenario in which alice may bind and has a delivery-report webhook. Every message is enroute and then delivered.
async fn start_scenario() -> Scenario {
    let end = Duration::from_millis(100);
    let script = Script::new().enroute_after(Duration::ZERO).receipt_after(end, Outcome::Delivered);
    let s = Scenario::with(script).await;
    s.provision(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\nsenders = [\"Hermod\"]\n\
         dlr_webhook = \"https://receiver.invalid/dlr\"\nwebhook_secret = \"alices-webhook-secret\"\n",
    )
    .await;
    provision_alice_smpp(&s, "").await;
    s
}

/// Returns message and status of the webhook events, oldest first.
async fn events(s: &Scenario) -> Vec<(String, &'static str)> {
    let store = &s.gateway().store;
    let alice = account_id(store).await;
    let events =
        store.webhooks().list(alice, WebhookFilter::default(), None, 100).await.expect("the store answers");
    let report = |event: &hermod_store::WebhookRecord| {
        (event.message.to_string(), event.status.expect("a delivery report").word())
    };
    events.iter().rev().map(report).collect()
}

async fn wait_for_events(s: &Scenario, expect: &[(String, &'static str)]) {
    let started = now();
    while events(s).await != expect && started.elapsed() < PATIENCE {
        pause(Duration::from_millis(20)).await;
    }
    assert_eq!(events(s).await, expect);
}

#[tokio::test]
async fn message_from_a_transceiver_makes_no_webhook_event() {
    let s = start_scenario().await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let silent = alice.submit(SubmitSm { registered_delivery: 0, ..message("silent") }).await;
    s.alice.status_of(&silent).becomes("delivered").await;
    let asked = alice.submit(message("asked")).await;
    assert_eq!(alice.take_receipt().await.get("id"), asked);
    assert_eq!(events(&s).await, []);
    // Without any bind, a message from a transceiver still makes no event.
    let last = alice.submit(SubmitSm { registered_delivery: 0, ..message("last") }).await;
    alice.unbind().await;
    s.alice.status_of(&last).becomes("delivered").await;
    assert_eq!(events(&s).await, []);
    // A message over HTTP makes events.
    let http = s.alice.send("+4915112345678", "over HTTP").await.accepted();
    s.alice.status_of(&http).becomes("delivered").await;
    wait_for_events(&s, &[(http.clone(), "ENROUTE"), (http, "DELIVRD")]).await;
    s.end().await;
}

#[tokio::test]
async fn message_from_a_transmitter_without_a_receiver_makes_webhook_events_at_once() {
    let s = start_scenario().await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let silent = transmitter.submit(SubmitSm { registered_delivery: 0, ..message("silent") }).await;
    wait_for_events(&s, &[(silent.clone(), "ENROUTE"), (silent.clone(), "DELIVRD")]).await;
    // With a receiver bound and no requested receipt there is neither receipt nor event.
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    let second = transmitter.submit(SubmitSm { registered_delivery: 0, ..message("second") }).await;
    s.alice.status_of(&second).becomes("delivered").await;
    receiver.assert_nothing_received().await;
    assert_eq!(events(&s).await.len(), 2);
    drop((transmitter, receiver));
    s.end().await;
}
