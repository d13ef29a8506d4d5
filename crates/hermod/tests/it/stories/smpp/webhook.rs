//! Customers who bind and have a webhook as well: which of the two is told. What is to be posted stands in the store; nobody
//! answers at the address.

use super::{alice_binds_with, message};
use crate::assembly;
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::{BindType, SubmitSm};
use hermod_store::WebhookFilter;
use std::time::Duration;

/// Alice binds, and has a webhook for delivery reports. Every message is on its way, and then delivered.
async fn stage() -> Scenario {
    let end = Duration::from_millis(100);
    let script = Script::new().enroute_after(Duration::ZERO).receipt_after(end, Outcome::Delivered);
    let s = Scenario::with(script).await;
    s.operator_provisions(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\nsenders = [\"Hermod\"]\n\
         dlr_webhook = \"https://receiver.invalid/dlr\"\nwebhook_secret = \"alices-webhook-secret\"\n",
    )
    .await;
    alice_binds_with(&s, "").await;
    s
}

/// What is told over HTTP, oldest first: of which message, and the word for it.
async fn told(s: &Scenario) -> Vec<(String, &'static str)> {
    let store = &s.world().store;
    let alice = assembly::account_id(store).await;
    let events =
        store.webhook_events(alice, WebhookFilter::default(), None, 100).await.expect("the store answers");
    let told = |event: &hermod_store::WebhookRecord| {
        (event.message.to_string(), event.status.expect("a delivery report").word())
    };
    events.iter().rev().map(told).collect()
}

async fn comes_to(s: &Scenario, expect: &[(String, &'static str)]) {
    let started = now();
    while told(s).await != expect && started.elapsed() < PATIENCE {
        pause(Duration::from_millis(20)).await;
    }
    assert_eq!(told(s).await, expect);
}

#[tokio::test]
async fn a_transceiver_that_asks_for_nothing_is_told_nothing_over_http_either() {
    let s = stage().await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let silent = alice.submits(SubmitSm { registered_delivery: 0, ..message("silent") }).await;
    s.alice.sees(&silent).becomes("delivered").await;
    let asked = alice.submits(message("asked")).await;
    assert_eq!(alice.gets_receipt().await.get("id"), asked);
    assert_eq!(told(&s).await, []);
    // Nobody is bound any more: what came on a transceiver still asked for nothing.
    let last = alice.submits(SubmitSm { registered_delivery: 0, ..message("last") }).await;
    alice.unbinds().await;
    s.alice.sees(&last).becomes("delivered").await;
    assert_eq!(told(&s).await, []);
    // The same over HTTP is told.
    let http = s.alice.sends("+4915112345678", "over HTTP").await.accepted();
    s.alice.sees(&http).becomes("delivered").await;
    comes_to(&s, &[(http.clone(), "ENROUTE"), (http, "DELIVRD")]).await;
    s.end().await;
}

#[tokio::test]
async fn a_transmitter_with_nobody_to_receive_is_told_every_change_over_http_from_the_first_moment() {
    let s = stage().await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let silent = transmitter.submits(SubmitSm { registered_delivery: 0, ..message("silent") }).await;
    comes_to(&s, &[(silent.clone(), "ENROUTE"), (silent.clone(), "DELIVRD")]).await;
    // With a receiver beside it nothing was asked for, and nothing is told.
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    let second = transmitter.submits(SubmitSm { registered_delivery: 0, ..message("second") }).await;
    s.alice.sees(&second).becomes("delivered").await;
    receiver.gets_nothing().await;
    assert_eq!(told(&s).await.len(), 2);
    drop((transmitter, receiver));
    s.end().await;
}
