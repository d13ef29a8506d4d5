//! Decisions of the contract about idempotency keys, one test each.

use super::fixture::{ACME, Service, status_and_code};
use hermod_gateway::clock::within;
use std::sync::Arc;
use std::time::Duration;

const DE: &str = "+4915112345678";
const BODY: &str = r#"{"to":"+4915112345678","text":"hello"}"#;

#[tokio::test]
async fn idempotency_key_is_any_string_of_1_to_255_bytes_unique_per_account() {
    let service = Service::start().await;
    let longest = "k".repeat(255);
    for key in ["k", "with space", "\u{e9}\u{436}", longest.as_str()] {
        assert_eq!(service.keyed(ACME, key, DE, "hello").await.status, 202, "{key}");
        assert_eq!(service.keyed(ACME, key, DE, "hello").await.status, 200, "{key}");
        assert_eq!(service.keyed("other", key, DE, "hello").await.status, 202, "another account's key");
    }
    assert_eq!(
        status_and_code(&service.keyed(ACME, &"k".repeat(256), DE, "hello").await),
        (400, "INVALID_FIELD")
    );
    for _ in 0..2 {
        assert_eq!(service.keyed(ACME, "", DE, "an empty key is none").await.status, 202);
    }
}

#[tokio::test]
async fn idempotency_key_is_kept_as_long_as_the_message_record() {
    let service = Service::start().await;
    let first = service.keyed(ACME, "order-1", DE, "hello").await;
    for days in [1, 30, 300] {
        service.advance(days * 24 * 3600);
        let again = service.keyed(ACME, "order-1", DE, "hello").await;
        assert_eq!(
            (again.status, again.field("message_id")),
            (200, first.field("message_id")),
            "{days} days on"
        );
    }
}

#[tokio::test]
async fn idempotency_key_in_the_header_overrides_the_body() {
    let service = Service::start().await;
    let in_body = r#"{"to":"+4915112345678","text":"hello","idempotency_key":"body"}"#;
    let first = service.send(ACME, &[], in_body).await;
    assert_eq!(first.status, 202);
    assert_eq!(service.send(ACME, &[], in_body).await.field("message_id"), first.field("message_id"));
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "header")], in_body).await.status, 202);
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "body")], BODY).await.status, 200);
}

#[tokio::test]
async fn same_key_with_another_body_is_a_replay_marked_as_different() {
    let service = Service::start().await;
    let first = service.keyed(ACME, "order-1", DE, "hello").await;
    let same = service.keyed(ACME, "order-1", DE, "hello").await;
    assert_eq!((same.status, same.header("idempotency-mismatch")), (200, None));
    let other = service.keyed(ACME, "order-1", DE, "something else").await;
    assert_eq!((other.status, other.header("idempotency-mismatch")), (200, Some("true")));
    assert_eq!(other.field("message_id"), first.field("message_id"));
    assert_eq!(service.balance(ACME).await, "9.95");
}

#[tokio::test]
async fn duplicate_request_waits_for_the_first_in_flight() {
    let service = Arc::new(Service::start().await);
    let mut sends = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let service = service.clone();
        sends.spawn(async move {
            let reply = service.keyed(ACME, "storm", DE, "hello").await;
            (reply.status, reply.field("message_id"))
        });
    }
    let answers = sends.join_all().await;
    assert_eq!(answers.iter().filter(|(status, _)| *status == 202).count(), 1);
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 31);
    assert!(answers.iter().all(|(_, id)| *id == answers[0].1));
    assert_eq!(service.balance(ACME).await, "9.95");
}

#[tokio::test]
async fn request_queued_for_ten_seconds_gets_503_and_leaves_the_key_free() {
    let service = Arc::new(Service::start().await);
    let database = rusqlite::Connection::open(service.folder.path().join("data/hermod.db")).unwrap();
    // A lock on the database keeps the writer from beginning.
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut sends = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let service = service.clone();
        sends.spawn(async move {
            let reply = service.keyed(ACME, "order-1", DE, "hello").await;
            (reply.status, reply.code().to_owned(), reply.header("retry-after").map(str::to_owned))
        });
    }
    while let Err(_waiting) = within(Duration::from_millis(20), async {
        while let Some(sent) = sends.join_next().await {
            assert_eq!(sent.unwrap(), (503, "GATEWAY_UNAVAILABLE".to_owned(), Some("1".to_owned())));
        }
    })
    .await
    {
        service.advance(1);
    }
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(service.keyed(ACME, "order-1", DE, "hello").await.status, 202);
    assert_eq!(service.balance(ACME).await, "9.95", "neither of the first two was stored");
}

#[tokio::test]
async fn failed_first_request_does_not_bind_the_key() {
    let service = Service::start().await;
    assert_eq!(service.keyed(ACME, "order-1", "nonsense", "hello").await.status, 400);
    assert_eq!(service.keyed(ACME, "order-1", "+33612345678", "hello").await.status, 422);
    assert_eq!(service.keyed(ACME, "order-1", DE, "http://").await.status, 403);
    service.gateway().start_draining();
    assert_eq!(service.keyed(ACME, "order-1", DE, "hello").await.status, 503);
    let fresh = Service::start().await;
    assert_eq!(fresh.keyed("poor", "order-1", DE, &"x".repeat(400)).await.status, 402);
    assert_eq!(fresh.keyed("poor", "order-1", DE, "hello").await.status, 202);
}

#[tokio::test]
async fn replay_has_exactly_the_five_documented_fields() {
    let service = Service::start().await;
    let first = service.keyed(ACME, "order-1", DE, "hello").await;
    let replay = service.keyed(ACME, "order-1", DE, "hello").await;
    let expect = serde_json::json!({
        "message_id": first.field("message_id"),
        "status": "duplicate",
        "duplicate": true,
        "charged": false,
        "cost": 0
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&replay.body).unwrap(), expect);
}
