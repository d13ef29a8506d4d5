//! Webhooks end to end: content, signatures, retries, secrets, alarms and
//! hostile receivers.

mod alarm;
mod content;
mod held;
mod hostile_receivers;
mod mo;
mod retries;
mod secret_rotation;
mod smpp_customers;

use crate::real_time::PATIENCE;
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::webhook::signature::{SignatureHeader, valid_signatures};
use hermod_simulator::carrier::Script;
use hermod_simulator::webhooks::{ReceivedPost, ReceiverBehaviour, WebhookReceiver};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const TO: &str = "+4915112345678";
const SECRET: &str = "alices-webhook-secret";
/// How long nothing more must happen.
const A_MOMENT: Duration = Duration::from_millis(300);

fn receiver(manner: ReceiverBehaviour) -> WebhookReceiver {
    WebhookReceiver::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), manner, None).expect("a free port")
}

/// Starts a scenario in which alice's webhook is this receiver.
async fn scenario_with_webhook(hooks: &WebhookReceiver, script: Script) -> Scenario {
    Scenario::with_setup(script, setup_with_webhook(hooks)).await
}

/// A carrier that reports each message as enroute. The test sends the final receipt.
fn enroute_only() -> Script {
    Script::new().no_receipts().enroute_after(Duration::ZERO)
}

fn setup_with_webhook(hooks: &WebhookReceiver) -> GatewaySetup {
    GatewaySetup::with("").account("alice", &lines(hooks))
}

/// Returns the lines of an account's provision entry with this receiver as webhook.
fn lines(hooks: &WebhookReceiver) -> String {
    format!(
        "dlr_webhook = \"{}\"\ninbound_webhook = \"{}\"\nwebhook_secret = \"{SECRET}\"\n",
        hooks.url("dlr"),
        hooks.url("inbound")
    )
}

/// Waits for `count` posts.
async fn wait_for_posts(hooks: &WebhookReceiver, count: u64) -> Vec<ReceivedPost> {
    let caught = hooks.wait_for(count, PATIENCE).await;
    assert_eq!(caught.len(), usize::try_from(count).expect("a few"), "posts: {caught:?}");
    caught
}

/// Asserts that there are no more than `count` posts.
async fn assert_post_count(hooks: &WebhookReceiver, count: u64) {
    hooks.wait_for(count + 1, A_MOMENT).await;
    assert_eq!(hooks.count(), count);
}

fn body(caught: &ReceivedPost) -> Value {
    serde_json::from_slice(&caught.body).expect("JSON")
}

/// Returns the signatures that this secret verifies.
fn verified_signatures(caught: &ReceivedPost, secret: &str) -> Vec<SignatureHeader> {
    valid_signatures(secret, &caught.body, |name| caught.header(name))
}

fn header<'a>(caught: &'a ReceivedPost, name: &str) -> &'a str {
    caught.header(name).unwrap_or_default()
}
