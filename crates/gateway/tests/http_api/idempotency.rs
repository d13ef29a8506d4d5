//! A repeated idempotency key never sends or charges twice, and never turns an accepted send into an error.

use crate::client::Headers;
use crate::fixture::Service;
use crate::send::join_all;
use crate::test_customers::{ACME, ACME_TOO, POOR, SLOW};

const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;

#[tokio::test]
async fn repeated_key_returns_the_first_message() {
    let service = Service::start().await;
    let first = service.send(ACME, &[("Idempotency-Key", "order-1")], SEND).await;
    assert_eq!(first.status, 202);
    let id = first.field("message_id");
    let in_body = r#"{"to":"+4915112345678","text":"hello","idempotency_key":"order-1"}"#;
    let with_other_key_in_body = r#"{"to":"+4915112345678","text":"hello","idempotency_key":"order-2"}"#;
    let cases: &[(&str, &str, Headers<'_>, &str, Option<&str>)] = &[
        ("the same", ACME, &[("Idempotency-Key", "order-1")], SEND, None),
        ("in the body", ACME, &[], in_body, None),
        ("the header wins", ACME, &[("Idempotency-Key", "order-1")], with_other_key_in_body, None),
        ("an empty header does not", ACME, &[("Idempotency-Key", "")], in_body, None),
        ("another key of the connection", ACME_TOO, &[("Idempotency-Key", "order-1")], SEND, None),
        ("another connection of the account", SLOW, &[("Idempotency-Key", "order-1")], SEND, None),
        (
            "another text",
            ACME,
            &[("Idempotency-Key", "order-1")],
            r#"{"to":"+4915112345678","text":"bye"}"#,
            Some("true"),
        ),
        (
            "fields that would be refused",
            ACME,
            &[("Idempotency-Key", "order-1")],
            r#"{"to":"nonsense"}"#,
            Some("true"),
        ),
        (
            "types that would be refused",
            ACME,
            &[("Idempotency-Key", "order-1")],
            r#"{"text":5}"#,
            Some("true"),
        ),
        (
            "a sender that would be refused",
            ACME,
            &[("Idempotency-Key", "order-1")],
            r#"{"to":"+4915112345678","from":"Other","text":"hello"}"#,
            Some("true"),
        ),
    ];
    for (name, key, headers, body, mismatch) in cases {
        let reply = service.send(key, headers, body).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        let expect = format!(
            r#"{{"message_id":"{id}","status":"duplicate","duplicate":true,"charged":false,"cost":0}}"#
        );
        assert_eq!(reply.body, expect, "{name}");
        assert_eq!(reply.header("idempotency-mismatch"), *mismatch, "{name}");
        assert_eq!(reply.header("x-sms-parts"), None, "{name}");
    }
    assert_eq!(service.balance(ACME).await, "9.935");
}

#[tokio::test]
async fn invalid_json_is_rejected_before_the_key_lookup() {
    let service = Service::start().await;
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "k")], SEND).await.status, 202);
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "k")], "{").await.code(), "INVALID_JSON");
}

#[tokio::test]
async fn rejected_send_does_not_bind_its_key() {
    let service = Service::start().await;
    let key = [("Idempotency-Key", "k")];
    assert_eq!(service.send(ACME, &key, r#"{"to":"x","text":"a"}"#).await.status, 400);
    assert_eq!(service.send(ACME, &key, r#"{"to":"+33612345678","text":"a"}"#).await.status, 422);
    assert_eq!(service.send(ACME, &key, SEND).await.status, 202);
    assert_eq!(service.send(ACME, &key, SEND).await.status, 200);
}

#[tokio::test]
async fn idempotency_keys_are_unique_per_account() {
    let service = Service::start().await;
    let key = [("Idempotency-Key", "k")];
    let acme = service.send(ACME, &key, SEND).await;
    let poor = service.send(POOR, &key, SEND).await;
    assert_eq!((acme.status, poor.status), (202, 202));
    assert_ne!(acme.field("message_id"), poor.field("message_id"));
}

#[tokio::test]
async fn replay_with_an_empty_balance_succeeds() {
    let service = Service::start().await;
    let key = [("Idempotency-Key", "k")];
    assert_eq!(service.send(POOR, &key, SEND).await.status, 202);
    assert_eq!(service.send(POOR, &[], SEND).await.status, 402);
    assert_eq!(service.send(POOR, &key, SEND).await.status, 200);
}

#[tokio::test]
async fn key_must_have_1_to_255_bytes_and_occur_once() {
    let service = Service::start().await;
    let (longest, too_long) = ("k".repeat(255), "k".repeat(256));
    let too_long_in_body = format!(r#"{{"to":"+4915112345678","text":"a","idempotency_key":"{too_long}"}}"#);
    assert_eq!(service.send(ACME, &[("Idempotency-Key", &longest)], SEND).await.status, 202);
    assert_eq!(service.send(ACME, &[("Idempotency-Key", &longest)], SEND).await.status, 200);
    let refused = [
        service.send(ACME, &[("Idempotency-Key", &too_long)], SEND).await,
        service.send(ACME, &[], &too_long_in_body).await,
        service.send(ACME, &[("Idempotency-Key", "short")], &too_long_in_body).await,
        service.send(ACME, &[("Idempotency-Key", "a"), ("Idempotency-Key", "b")], SEND).await,
    ];
    for reply in &refused {
        assert_eq!((reply.status, reply.code()), (400, "INVALID_FIELD"), "{}", reply.body);
    }
    let number = r#"{"to":"+4915112345678","text":"a","idempotency_key":7}"#;
    assert_eq!(service.send(ACME, &[], number).await.code(), "INVALID_JSON");
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "short")], number).await.code(), "INVALID_JSON");
    // An empty key counts as absent in both places: both are new sends.
    let empty = r#"{"to":"+4915112345678","text":"a","idempotency_key":""}"#;
    for _ in 0..2 {
        assert_eq!(service.send(ACME, &[("Idempotency-Key", "")], empty).await.status, 202);
    }
    // A key can have any characters: these are two different keys.
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "ключ 😀")], SEND).await.status, 202);
    assert_eq!(service.send(ACME, &[("Idempotency-Key", "ключ")], SEND).await.status, 202);
}

#[tokio::test]
async fn twenty_concurrent_requests_with_one_key_send_once() {
    let service = Service::start().await;
    for round in 0..5 {
        let key = format!("round-{round}");
        let headers = [("Idempotency-Key", key.as_str())];
        let replies = join_all((0..20).map(|_| service.send(ACME, &headers, SEND))).await;
        let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [[200].repeat(19), vec![202]].concat());
        let id = replies[0].field("message_id");
        assert!(replies.iter().all(|reply| reply.field("message_id") == id));
    }
    assert_eq!(service.balance(ACME).await, "9.675");
}

#[tokio::test]
async fn keyed_request_while_the_store_is_closed_gets_503_for_every_body() {
    let service = Service::start().await;
    let key: Headers<'_> = &[("Idempotency-Key", "order-1")];
    assert_eq!(service.send(ACME, key, SEND).await.status, 202);
    service.gateway.store.close().await.unwrap();
    let refused = [
        r#"{"to":"nonsense"}"#,
        r#"{"to":"+4915112345678","from":"Other","text":"hello"}"#,
        r#"{"to":"+9991234567","text":"hello"}"#,
        SEND,
    ];
    for body in refused {
        let reply = service.send(ACME, key, body).await;
        assert_eq!((reply.status, reply.code()), (503, "GATEWAY_UNAVAILABLE"), "{body}");
    }
    assert_eq!(
        service.send(ACME, &[], refused[0]).await.status,
        400,
        "without a key the body is checked first"
    );
}

#[tokio::test]
async fn misspelt_idempotency_key_is_rejected_before_anything_is_charged() {
    let service = Service::start().await;
    let before = service.balance(ACME).await;
    for name in ["idempotency-key", "Idempotency_Key", "idempotencyKey"] {
        let body = format!(r#"{{"to":"+4915112345678","text":"hello","{name}":"order-7"}}"#);
        let reply = service.send(ACME, &[], &body).await;
        assert_eq!((reply.status, reply.code()), (400, "INVALID_JSON"), "{name}");
        assert!(reply.body.contains("`idempotency_key`"), "{}", reply.body);
    }
    assert_eq!(service.balance(ACME).await, before);
}
