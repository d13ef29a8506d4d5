//! Stories of customers who are told over HTTP: what they are told, how they know that it is true, what happens while
//! their servers fail, and that nobody else notices.

mod alarming;
mod handsets;
mod hostile;
mod retrying;
mod rotating;
mod smpp;
mod telling;

use crate::real_time::PATIENCE;
use crate::scenario::{Scenario, Staged};
use hermod_domain::webhook::signature::{Proof, proofs};
use hermod_simulator::carrier::Script;
use hermod_simulator::webhooks::{ReceivedPost, ReceiverBehaviour, WebhookReceiver};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const TO: &str = "+4915112345678";
const SECRET: &str = "alices-webhook-secret";
/// Long enough for whatever would happen at once.
const A_MOMENT: Duration = Duration::from_millis(300);

fn receiver(manner: ReceiverBehaviour) -> WebhookReceiver {
    WebhookReceiver::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), manner, None).expect("a free port")
}

/// A gateway whose alice is told at this receiver.
async fn alice_is_told_at(hooks: &WebhookReceiver, script: Script) -> Scenario {
    Scenario::staged(script, told_at(hooks)).await
}

fn told_at(hooks: &WebhookReceiver) -> Staged {
    Staged::with("").account("alice", &lines(hooks))
}

/// What an account that is told at this receiver has in a provision file.
fn lines(hooks: &WebhookReceiver) -> String {
    format!(
        "dlr_webhook = \"{}\"\ninbound_webhook = \"{}\"\nwebhook_secret = \"{SECRET}\"\n",
        hooks.url("dlr"),
        hooks.url("inbound")
    )
}

/// Waits for so many posts.
async fn posts(hooks: &WebhookReceiver, count: u64) -> Vec<ReceivedPost> {
    let caught = hooks.wait_for(count, PATIENCE).await;
    assert_eq!(caught.len(), usize::try_from(count).expect("a few"), "posts: {caught:?}");
    caught
}

/// Nothing more comes than there was.
async fn comes_to(hooks: &WebhookReceiver, count: u64) {
    hooks.wait_for(count + 1, A_MOMENT).await;
    assert_eq!(hooks.count(), count);
}

fn body(caught: &ReceivedPost) -> Value {
    serde_json::from_slice(&caught.body).expect("JSON")
}

/// What this secret can be seen to have signed.
fn proven(caught: &ReceivedPost, secret: &str) -> Vec<Proof> {
    proofs(secret, &caught.body, |name| caught.header(name))
}

fn header<'a>(caught: &'a ReceivedPost, name: &str) -> &'a str {
    caught.header(name).unwrap_or_default()
}
