//! Unit tests of `alarm_post.rs`.

use super::*;
use crate::config::Config;
use crate::live_status::{Alarm, AlarmKind};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::signature::{SignatureHeader, valid_signatures};
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

fn notification() -> AlarmNotification {
    let at = Timestamp::parse("2026-11-19T10:00:00Z").unwrap();
    let alarm = Alarm {
        kind: AlarmKind::DiskLow,
        carrier: String::new(),
        about: String::new(),
        detail: "low".to_owned(),
        first_at: at,
        last_at: at,
        count: 1,
    };
    AlarmNotification { id: "alarm_1".to_owned(), alarm, is_over: false, at, node: None }
}

fn webhook(url: &str, secret_file: &Path) -> AlarmWebhook {
    let config = Config::defaults();
    let notify = NotifySection {
        webhook: Some(url.to_owned()),
        secret_file: Some(secret_file.to_owned()),
        ..config.alarms.notify
    };
    AlarmWebhook::new(&notify, &config.webhooks, Resolver::system()).unwrap()
}

/// Posts once to the receiver. Returns the result, and the signatures that the secret verifies.
async fn post_to(behaviour: ReceiverBehaviour) -> (Result<(), String>, Vec<SignatureHeader>) {
    let hooks = WebhookReceiver::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), behaviour, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "a secret of many characters\nnot this\n").unwrap();
    let webhook = webhook(&hooks.url("alarms"), &file);
    let client = WebhookClient::new(&webhook.settings, Clock::real(), Workers::default());
    let draft = webhook.draft(&notification(), 1, &Clock::real()).unwrap();
    let result = post(&client, &webhook.url, &draft).await;
    let posts = hooks.posts();
    let seen = posts.first().expect("it was posted although it is on the loopback");
    assert_eq!(seen.body, notification().body());
    assert_eq!(seen.header("webhook-id"), Some("alarm_1"));
    let secret = "a secret of many characters";
    let valid = valid_signatures(secret, &seen.body, |name| seen.header(name));
    hooks.stop().await;
    (result, valid)
}

#[tokio::test]
async fn notification_is_posted_to_any_address_with_both_signatures() {
    let (result, valid) = post_to(ReceiverBehaviour::Status(204)).await;
    assert_eq!(result, Ok(()));
    assert_eq!(valid, [SignatureHeader::Current, SignatureHeader::Standard]);
}

#[tokio::test]
async fn other_statuses_than_2xx_are_failures() {
    let (result, _) = post_to(ReceiverBehaviour::Status(500)).await;
    assert!(result.unwrap_err().ends_with("answered with status 500"));
}

#[test]
fn missing_secret_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    let error = webhook("https://ops.example.com/", &file).secret().unwrap_err();
    assert!(error.contains("secret cannot be read"), "{error}");
    std::fs::write(&file, "\n").unwrap();
    let error = webhook("https://ops.example.com/", &file).secret().unwrap_err();
    assert!(error.ends_with("has fewer than 16 characters"), "{error}");
}
