//! The token bucket of a connection, and request ids.

use crate::client::bearer;
use crate::fixture::Service;
use crate::test_customers::{ACME, SLOW};
use std::time::Duration;

#[tokio::test]
async fn token_bucket_of_two_allows_two_requests_and_refills() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for remaining in ["1", "0"] {
        let reply = client.get(SLOW, "/api/v1/balance").await;
        assert_eq!((reply.status, reply.header("x-ratelimit-remaining")), (200, Some(remaining)));
    }
    for path in ["/api/v1/balance", "/api/v1/sms/1"] {
        let reply = client.get(SLOW, path).await;
        assert_eq!((reply.status, reply.code()), (429, "RATE_LIMITED"));
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert_eq!(reply.header("x-ratelimit-limit"), Some("2"));
        assert_eq!(reply.header("x-ratelimit-remaining"), Some("0"));
        assert_eq!(reply.header("ratelimit"), Some(r#""connection";r=0;t=1"#));
    }
    // Another connection has its own bucket.
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
    service.gateway.clock.advance(Duration::from_millis(500));
    assert_eq!(client.get(SLOW, "/api/v1/balance").await.status, 200);
    assert_eq!(client.get(SLOW, "/api/v1/balance").await.status, 429);
    service.gateway.clock.advance(Duration::from_secs(1));
    assert_eq!(client.get(SLOW, "/api/v1/balance").await.status, 200);
}

#[tokio::test]
async fn wrong_credentials_and_wrong_paths_take_no_token() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for _ in 0..5 {
        let wrong = [("Authorization", "Bearer slow-key:wrong")];
        assert_eq!(client.call("GET", "/api/v1/balance", &wrong, b"").await.status, 401);
        let good = bearer(SLOW);
        let good = [("Authorization", good.as_str())];
        assert_eq!(client.call("DELETE", "/api/v1/balance", &good, b"").await.status, 405);
        assert_eq!(client.call("GET", "/api/v1/nothing", &good, b"").await.status, 404);
    }
    assert_eq!(client.get(SLOW, "/api/v1/balance").await.header("x-ratelimit-remaining"), Some("1"));
}

#[tokio::test]
async fn replay_takes_a_token() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let body = r#"{"to":"+4915112345678","from":"Acme","text":"a"}"#;
    let key = [("Idempotency-Key", "k")];
    let statuses = [
        client.send(SLOW, &key, body).await.status,
        client.send(SLOW, &key, body).await.status,
        client.send(SLOW, &key, body).await.status,
    ];
    assert_eq!(statuses, [202, 200, 429]);
}

#[tokio::test]
async fn rejected_body_keeps_the_connection_open() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for _ in 0..10 {
        client.send(SLOW, &[], r#"{"to":"+4915112345678","text":"a"}"#).await;
    }
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}

#[tokio::test]
async fn valid_request_id_is_returned_and_an_invalid_one_is_replaced() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let call = async |client: &mut crate::client::Client, id: &str| {
        let reply = client.call("GET", "/healthz", &[("X-Request-Id", id)], b"").await;
        reply.header("x-request-id").unwrap().to_owned()
    };
    assert_eq!(call(&mut client, "My-Id_1.2").await, "My-Id_1.2");
    let (one, other) = (call(&mut client, "has space").await, call(&mut client, &"x".repeat(65)).await);
    for id in [&one, &other] {
        assert!(id.len() == 21 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    }
    assert_ne!(one, other);
}
