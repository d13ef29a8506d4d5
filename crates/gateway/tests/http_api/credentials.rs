//! Credentials, and the order of the checks of a request.

use crate::client::{Headers, bearer};
use crate::fixture::{SECRET, Service};
use crate::test_customers::{ACCOUNT_CLOSED, ACME, CLOSED, EXPIRING, REVOKED, SLOW};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}

#[tokio::test]
async fn three_credential_forms_authenticate_and_all_others_get_401() {
    let service = Service::start().await;
    let pair = format!("{ACME}:{SECRET}");
    let (good, bad) = (basic(&pair), basic(&format!("{ACME}:wrong")));
    let bearer = bearer(ACME);
    let cases: &[(&str, Headers<'_>, u16)] = &[
        ("basic", &[("Authorization", &good)], 200),
        ("bearer", &[("Authorization", &bearer)], 200),
        ("two headers", &[("X-API-Key", ACME), ("X-API-Secret", SECRET)], 200),
        ("authorization and two headers", &[("Authorization", &good), ("X-API-Key", "x")], 200),
        ("none", &[], 401),
        ("wrong secret", &[("Authorization", &bad)], 401),
        ("unknown key", &[("Authorization", "Bearer unknown:wrong")], 401),
        ("no secret", &[("Authorization", "Bearer acme-key")], 401),
        ("empty secret", &[("Authorization", "Bearer acme-key:")], 401),
        ("not base64", &[("Authorization", "Basic %%%")], 401),
        ("another scheme", &[("Authorization", "Digest acme-key")], 401),
        ("key without secret", &[("X-API-Key", ACME)], 401),
        ("wrong pair of headers", &[("X-API-Key", ACME), ("X-API-Secret", "wrong")], 401),
        (
            "no falling through",
            &[("Authorization", &bad), ("X-API-Key", ACME), ("X-API-Secret", SECRET)],
            401,
        ),
        ("twice", &[("Authorization", &good), ("Authorization", &good)], 401),
    ];
    for (name, headers, status) in cases {
        let mut client = service.client().await;
        let reply = client.call("GET", "/api/v1/balance", headers, b"").await;
        assert_eq!(reply.status, *status, "{name}");
        if *status == 401 {
            assert_eq!(reply.code(), "INVALID_API_KEY", "{name}");
            assert!(reply.header("www-authenticate").unwrap().starts_with("Basic"), "{name}");
            assert_eq!(reply.header("x-ratelimit-limit"), Some("10"), "{name}");
            assert!(reply.header("ratelimit").unwrap().starts_with("\"failed-sign-ins\";r="), "{name}");
        }
        // A 401 does not close the connection.
        assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200, "{name}");
        // Too many failures in a row would get 429.
        service.gateway.clock.advance(Duration::from_secs(6));
    }
}

#[tokio::test]
async fn credentials_are_checked_first_then_the_rate_then_the_body() {
    let service = Service::start().await;
    let bad_json = "{";
    let reply = service.client().await.call("POST", "/api/v1/sms", &[], bad_json.as_bytes()).await;
    assert_eq!((reply.status, reply.code()), (401, "INVALID_API_KEY"));
    for _ in 0..2 {
        let reply = service.send(SLOW, &[], bad_json).await;
        assert_eq!((reply.status, reply.code()), (400, "INVALID_JSON"));
    }
    let reply = service.send(SLOW, &[], bad_json).await;
    assert_eq!((reply.status, reply.code()), (429, "RATE_LIMITED"));
}

#[tokio::test]
async fn unknown_path_or_method_is_answered_without_credentials() {
    let service = Service::start().await;
    let cases = [
        ("GET", "/api/v1/sms", 405, "METHOD_NOT_ALLOWED", Some("POST")),
        ("DELETE", "/api/v1/sms", 405, "METHOD_NOT_ALLOWED", Some("POST")),
        ("OPTIONS", "/api/v1/sms", 405, "METHOD_NOT_ALLOWED", Some("POST")),
        ("POST", "/api/v1/sms/1", 405, "METHOD_NOT_ALLOWED", Some("GET, HEAD")),
        ("PUT", "/api/v1/balance", 405, "METHOD_NOT_ALLOWED", Some("GET, HEAD")),
        ("BREW", "/api/v1/balance", 405, "METHOD_NOT_ALLOWED", Some("GET, HEAD")),
        ("POST", "/metrics", 405, "METHOD_NOT_ALLOWED", Some("GET, HEAD")),
        ("POST", "/", 405, "METHOD_NOT_ALLOWED", Some("GET, HEAD")),
        ("GET", "/api/v1", 404, "NOT_FOUND", None),
        ("GET", "/api/v1/", 404, "NOT_FOUND", None),
        ("POST", "/api/v1/sms/", 404, "NOT_FOUND", None),
        ("POST", "/api/v1/SMS", 404, "NOT_FOUND", None),
        ("POST", "/api/v2/sms", 404, "NOT_FOUND", None),
        ("GET", "/api/v1/sms/1/2", 404, "NOT_FOUND", None),
        ("GET", "/api/v1/sms/../balance", 404, "NOT_FOUND", None),
        ("GET", "/%ff%00", 404, "NOT_FOUND", None),
        ("OPTIONS", "*", 404, "NOT_FOUND", None),
    ];
    for (method, path, status, code, allow) in cases {
        let reply = service.client().await.call(method, path, &[], b"").await;
        assert_eq!(
            (reply.status, reply.code(), reply.header("allow")),
            (status, code, allow),
            "{method} {path}"
        );
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{method} {path}");
        assert!(reply.header("x-request-id").is_some(), "{method} {path}");
    }
    service.assert_still_serving().await;
}

#[tokio::test]
async fn expired_or_revoked_key_or_key_of_a_closed_account_gets_401() {
    let service = Service::start().await;
    assert_eq!(service.get(EXPIRING, "/api/v1/balance").await.status, 200);
    for key in [REVOKED, CLOSED, ACCOUNT_CLOSED] {
        let reply = service.get(key, "/api/v1/balance").await;
        assert_eq!((reply.status, reply.code()), (401, "INVALID_API_KEY"), "{key}");
    }
    service.gateway.clock.advance(Duration::from_secs(3600));
    let reply = service.get(EXPIRING, "/api/v1/balance").await;
    assert_eq!((reply.status, reply.code()), (401, "INVALID_API_KEY"));
    service.assert_still_serving().await;
}
