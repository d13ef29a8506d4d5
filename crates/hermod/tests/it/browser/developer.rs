//! Journeys of a developer: a key from its creation to a delivered message, rotation while clients send, a broken webhook.

use super::tab::Tab;
use super::{EMAIL, make_user};
use crate::real_time::{PATIENCE, pause};
use crate::scenario::http::call;
use crate::scenario::{Esme, GatewaySetup, Scenario};
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use hermod_smpp::{Address, BindType, CommandStatus, Hidden, SubmitSm, VERSION_3_4};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PHONE: &str = "+4915112345678";
const OLD_PASSWORD: &str = "secret12";
/// When a failed event is posted again by itself, at the earliest.
const FIRST_RETRY: Duration = Duration::from_secs(40);
/// Between two messages of a client.
const GAP: Duration = Duration::from_millis(50);

/// Creates a key on its page and returns it with its secret.
async fn create_key(tab: &Tab, label: &str) -> (String, String) {
    tab.go("/accounts/alice/keys").await;
    tab.fill("label", label).await;
    tab.press("Create the key").await;
    tab.sees("Copy the secret now").await;
    (tab.fact("Key").await, tab.fact("Secret").await)
}

/// Sends a message over HTTP and returns the status.
async fn send(address: SocketAddr, key: &str, secret: &str, text: &str) -> u16 {
    let body = format!(r#"{{"to":"{PHONE}","text":"{text}"}}"#);
    let headers = [("Content-Type", "application/json"), ("X-API-Key", key), ("X-API-Secret", secret)];
    call(address, "POST", "/api/v1/sms", &headers, &body).await.expect("a response").status
}

/// Binds, submits a message and unbinds. Returns the status of the bind.
async fn submit(address: SocketAddr, password: &str, text: &str) -> CommandStatus {
    let mut esme = Esme::connect(address).await;
    let status = esme.try_bind(BindType::Transmitter, "alice", password, VERSION_3_4).await;
    if status == CommandStatus::OK {
        let message = SubmitSm {
            source: Address::alphanumeric(b"Hermod"),
            destination: Address::international(b"4915112345678"),
            short_message: Hidden(text.as_bytes()),
            ..SubmitSm::default()
        };
        esme.submit(message).await;
        esme.unbind().await;
    }
    status
}

#[tokio::test]
async fn created_key_sends_a_message_that_is_watched_live_until_it_is_delivered() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    let (key, secret) = create_key(&tab, "shop backend").await;
    tab.go("/accounts/alice/live").await;
    tab.sees("Waiting for messages").await;
    assert_eq!(send(s.alice.address(), &key, &secret, "watched live").await, 202);
    // Without a click: the feed brings the row and its last state.
    tab.sees(PHONE).await;
    tab.sees("Delivered").await;
    tab.click("hermod-live a.row-link").await;
    tab.sees("watched live").await;
    tab.go("/accounts/alice/keys").await;
    tab.sees("from 127.0.0.1").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn key_and_smpp_password_are_rotated_while_clients_send_without_one_rejection() {
    let setup = GatewaySetup::with("")
        .connection("alice", &format!("system_id = \"alice\"\npassword = \"{OLD_PASSWORD}\"\n"));
    let s = Scenario::with_setup(Script::new(), setup).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    let (key, old_secret) = create_key(&tab, "rotated").await;
    let (http, smpp, is_done) = (s.alice.address(), s.smpp_address(), AtomicBool::new(false));
    let clients = async {
        let mut sent = 0;
        while !is_done.load(Ordering::Relaxed) {
            assert_eq!(send(http, &key, &old_secret, "over HTTP").await, 202, "after {sent}");
            assert_eq!(submit(smpp, OLD_PASSWORD, "over SMPP").await, CommandStatus::OK, "after {sent}");
            sent += 2;
            pause(GAP).await;
            // However long the person takes, the rate limits are not reached.
            s.skip(GAP);
        }
        sent
    };
    let person = async {
        tab.go(&format!("/accounts/alice/keys/{key}")).await;
        tab.press("Rotate the secret").await;
        tab.sees("The old secret is valid until").await;
        let new_secret = tab.fact("Secret").await;
        tab.press("I have copied the secret").await;
        tab.go("/accounts/alice/smpp").await;
        tab.press("Rotate the password").await;
        tab.sees("The old password is valid until").await;
        let new_password = tab.fact("password").await;
        tab.press("I have copied the password").await;
        tab.arrives_at("/accounts/alice/smpp").await;
        tab.sees("The old password is valid until").await;
        is_done.store(true, Ordering::Relaxed);
        (new_secret, new_password)
    };
    let (sent, (new_secret, new_password)) = tokio::join!(clients, person);
    assert!(sent >= 6 && new_secret != old_secret && new_password != OLD_PASSWORD, "{sent} messages");
    assert_eq!(send(http, &key, &new_secret, "with the new secret").await, 202);
    assert_eq!(submit(smpp, &new_password, "with the new password").await, CommandStatus::OK);
    s.wait_for_carrier_submits(sent + 2).await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn broken_webhook_is_set_read_mended_and_replayed() {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let hooks = WebhookReceiver::start(address, ReceiverBehaviour::Status(503), None).expect("a free port");
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/accounts/alice/webhooks").await;
    tab.fill("dlr_webhook", &hooks.url("dlr")).await;
    tab.press("Save the URLs").await;
    tab.sees("The URLs are saved").await;
    let message = s.alice.send(PHONE, "to a broken receiver").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    hooks.wait_for(1, PATIENCE).await;
    tab.go_until("/accounts/alice/webhooks", "Next attempt in").await;
    tab.click("a[href*='/webhooks/events/']").await;
    tab.sees("503 Service Unavailable").await;
    tab.sees(&message).await;
    let event = tab.path().await;

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let before = s.now();
    tab.press("Replay the event").await;
    tab.sees("The event is posted again").await;
    s.advance_until(Duration::from_secs(1), || hooks.wait_for(2, PATIENCE)).await;
    assert_eq!(hooks.count(), 2);
    assert!(s.now().since(before) < FIRST_RETRY, "it was replayed, not retried");
    tab.go_until(&event, "200 OK").await;
    tab.sees("503 Service Unavailable").await;
    tab.close().await;
    s.end().await;
}
