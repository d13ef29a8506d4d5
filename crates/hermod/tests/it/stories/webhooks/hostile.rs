//! Receivers that mean harm, or behave as if they did: none is called where it must not be, and none costs more than its
//! own reports.

use super::*;
use hermod_gateway::running::Resolver;
use hermod_store::{AttemptOutcome, WebhookFilter};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What came of the attempts at alice's first event, oldest first; waits until there are so many.
async fn outcomes(s: &Scenario, count: usize) -> Vec<String> {
    let store = &s.world().store;
    let account = crate::assembly::account_id(store).await;
    let started = crate::real_time::now();
    loop {
        let events = store.webhook_events(account, WebhookFilter::default(), None, 10).await.expect("a list");
        let attempts = match events.last() {
            Some(event) => {
                store.webhook_attempts(account, event.id).await.expect("a list").unwrap_or_default()
            }
            None => Vec::new(),
        };
        if attempts.len() >= count {
            let told = attempts.into_iter().map(|attempt| match attempt.outcome {
                AttemptOutcome::Status(status) => status.to_string(),
                AttemptOutcome::Failed(sentence) => sentence,
            });
            return told.collect();
        }
        assert!(started.elapsed() < PATIENCE, "{} attempts", attempts.len());
        crate::real_time::pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_after_it_was_saved_is_not_called_there() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let turned = Arc::new(AtomicBool::new(true));
    let leads = turned.clone();
    let staged = Staged {
        // As if the first address were public, and the second not.
        webhooks_to: vec!["127.0.0.1"],
        resolver: Resolver::scripted(move |_| {
            let inside = leads.load(Ordering::Relaxed);
            vec![IpAddr::from(if inside { [169, 254, 169, 254] } else { [127, 0, 0, 1] })]
        }),
        ..Staged::with("")
    };
    let port = hooks.address().port();
    let staged = staged.account(
        "alice",
        &format!("dlr_webhook = \"http://rebinding.example:{port}/\"\nwebhook_secret = \"{SECRET}\"\n"),
    );
    let s = Scenario::staged(Script::new(), staged).await;
    s.alice.sends(TO, "hello").await.accepted();
    let told = outcomes(&s, 1).await;
    assert_eq!(told, ["169.254.169.254 is not to be called: it tells a machine about itself"]);
    assert_eq!(hooks.connections(), 0);
    turned.store(false, Ordering::Relaxed);
    s.skip(Duration::from_secs(56));
    posts(&hooks, 1).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn whatever_a_receiver_does_its_reports_wait_and_the_gateway_goes_on() {
    for (manner, expect) in [
        (ReceiverBehaviour::Hang, "timed out after 15 s"),
        (ReceiverBehaviour::Drip, "timed out after 15 s"),
        (ReceiverBehaviour::Reset, "the connection was lost"),
        (ReceiverBehaviour::Garbage, "not HTTP"),
        (ReceiverBehaviour::Endless, "200"),
        (ReceiverBehaviour::Redirect("http://169.254.169.254/latest/meta-data/".to_owned()), "307"),
    ] {
        let hooks = receiver(manner.clone());
        let s = alice_is_told_at(&hooks, Script::new()).await;
        let message = s.alice.sends(TO, "hello").await.accepted();
        posts(&hooks, 1).await;
        let told = s.stepping(Duration::from_secs(3), || outcomes(&s, 1)).await;
        assert!(told[0].contains(expect), "{manner}: {told:?}");
        s.alice.sees(&message).is("delivered").await;
        hooks.stop().await;
        s.end().await;
    }
}

#[tokio::test]
async fn a_receiver_without_a_good_certificate_gets_nothing() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let url = hooks.url("dlr").replace("http://", "https://");
    let staged = Staged::with("")
        .account("alice", &format!("dlr_webhook = \"{url}\"\nwebhook_secret = \"{SECRET}\"\n"));
    let s = Scenario::staged(Script::new(), staged).await;
    s.alice.sends(TO, "hello").await.accepted();
    let told = s.stepping(Duration::from_secs(1), || outcomes(&s, 1)).await;
    assert!(told[0].contains("TLS") || told[0].contains("timed out"), "{told:?}");
    assert_eq!(hooks.count(), 0);
    hooks.stop().await;
    s.end().await;
}
