//! Hostile webhook receivers: forbidden addresses are not called, and a receiver delays only its
//! own reports.

use super::*;
use hermod_gateway::running::Resolver;
use hermod_store::{AttemptOutcome, WebhookFilter};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Waits for `count` attempts of alice's first event and returns their outcomes, oldest first.
async fn outcomes(s: &Scenario, count: usize) -> Vec<String> {
    let store = &s.gateway().store;
    let account = crate::store_access::account_id(store).await;
    let started = crate::real_time::now();
    loop {
        let events =
            store.webhooks().list(account, WebhookFilter::default(), None, 10).await.expect("a list");
        let attempts = match events.last() {
            Some(event) => {
                store.webhooks().attempts(account, event.id).await.expect("a list").unwrap_or_default()
            }
            None => Vec::new(),
        };
        if attempts.len() >= count {
            let failures = attempts.into_iter().map(|attempt| match attempt.outcome {
                AttemptOutcome::Status(status) => status.to_string(),
                AttemptOutcome::Failed(sentence) => sentence,
            });
            return failures.collect();
        }
        assert!(started.elapsed() < PATIENCE, "{} attempts", attempts.len());
        crate::real_time::pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn webhook_name_rebound_to_a_private_address_is_not_called() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let turned = Arc::new(AtomicBool::new(true));
    let leads = turned.clone();
    let staged = GatewaySetup {
        // The first address counts as public, the second as private.
        webhooks_to: vec!["127.0.0.1"],
        resolver: Resolver::scripted(move |_| {
            let inside = leads.load(Ordering::Relaxed);
            vec![IpAddr::from(if inside { [169, 254, 169, 254] } else { [127, 0, 0, 1] })]
        }),
        ..GatewaySetup::with("")
    };
    let port = hooks.address().port();
    let staged = staged.account(
        "alice",
        &format!("dlr_webhook = \"http://rebinding.example:{port}/\"\nwebhook_secret = \"{SECRET}\"\n"),
    );
    let s = Scenario::with_setup(Script::new(), staged).await;
    s.alice.send(TO, "hello").await.accepted();
    let failures = outcomes(&s, 1).await;
    assert_eq!(failures, ["rebinding.example resolves to an address that must not be called"]);
    assert_eq!(hooks.connections(), 0);
    turned.store(false, Ordering::Relaxed);
    s.skip(Duration::from_secs(56));
    wait_for_posts(&hooks, 1).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn misbehaving_receiver_fails_its_attempt_and_the_gateway_continues() {
    for (manner, expect) in [
        (ReceiverBehaviour::Hang, "timed out after 15 s"),
        (ReceiverBehaviour::Drip, "timed out after 15 s"),
        (ReceiverBehaviour::Reset, "the connection was lost"),
        (ReceiverBehaviour::Garbage, "not HTTP"),
        (ReceiverBehaviour::Endless, "200"),
        (ReceiverBehaviour::Redirect("http://169.254.169.254/latest/meta-data/".to_owned()), "307"),
    ] {
        let hooks = receiver(manner.clone());
        let s = scenario_with_webhook(&hooks, Script::new()).await;
        let message = s.alice.send(TO, "hello").await.accepted();
        wait_for_posts(&hooks, 1).await;
        let failures = s.advance_until(Duration::from_secs(3), || outcomes(&s, 1)).await;
        assert!(failures[0].contains(expect), "{manner}: {failures:?}");
        s.alice.status_of(&message).is("delivered").await;
        hooks.stop().await;
        s.end().await;
    }
}

#[tokio::test]
async fn receiver_without_a_trusted_certificate_gets_no_post() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let url = hooks.url("dlr").replace("http://", "https://");
    let staged = GatewaySetup::with("")
        .account("alice", &format!("dlr_webhook = \"{url}\"\nwebhook_secret = \"{SECRET}\"\n"));
    let s = Scenario::with_setup(Script::new(), staged).await;
    s.alice.send(TO, "hello").await.accepted();
    let failures = s.advance_until(Duration::from_secs(1), || outcomes(&s, 1)).await;
    assert!(failures[0].contains("TLS") || failures[0].contains("timed out"), "{failures:?}");
    assert_eq!(hooks.count(), 0);
    hooks.stop().await;
    s.end().await;
}
