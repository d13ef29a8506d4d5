//! The client address: the TCP peer, or the address from a trusted proxy. Of the loopback addresses,
//! 127.0.0.2 is a trusted proxy and 127.0.0.3 is not.

use crate::client::{Client, Headers, Reply, bearer};
use crate::fixture::{Opening, Service};
use crate::test_customers::{ACME, LISTED, SLOW};
use hermod_gateway::http::{Security, TrustedProxies};
use std::time::Duration;

const PROXY: &str = "127.0.0.2";
const STRANGER: &str = "127.0.0.3";

async fn behind_a_proxy() -> Service {
    let proxies = TrustedProxies::new(["127.0.0.2/32".parse().unwrap()]);
    Service::open(Opening { proxies, ..Opening::default() }).await
}

#[tokio::test]
async fn plain_connections_from_this_machine_and_from_proxies_are_served() {
    for security in [Security::PlainNearby, Security::PlainForAll] {
        let service = Service::open(Opening { security, ..Opening::default() }).await;
        for source in ["127.0.0.1", "127.0.0.3"] {
            let mut client = Client::connect_from(source, service.address).await;
            assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200, "{source}");
        }
    }
    let service = behind_a_proxy().await;
    let mut client = Client::connect_from(PROXY, service.address).await;
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}

async fn ask(service: &Service, source: &str, key: &str, headers: Headers<'_>) -> Reply {
    let bearer = bearer(key);
    let headers = [&[("Authorization", bearer.as_str())], headers].concat();
    let reply = Client::connect_from(source, service.address)
        .await
        .call("GET", "/api/v1/balance", &headers, b"")
        .await;
    // Refills the token bucket.
    service.gateway.clock.advance(Duration::from_secs(1));
    reply
}

#[tokio::test]
async fn key_list_and_connection_list_must_both_allow_the_address() {
    let service = behind_a_proxy().await;
    for (caller, status) in [
        ("203.0.113.5", 200),
        ("::ffff:203.0.113.5", 200),
        // Only on the key's list, only on the connection's, on neither.
        ("203.0.113.200", 403),
        ("198.51.100.1", 403),
        ("192.0.2.1", 403),
        ("2001:db8::1", 403),
    ] {
        let reply = ask(&service, PROXY, LISTED, &[("X-Forwarded-For", caller)]).await;
        assert_eq!(reply.status, status, "{caller}");
        if status == 403 {
            assert_eq!(reply.code(), "IP_NOT_ALLOWED");
            let address = caller.parse::<std::net::IpAddr>().unwrap().to_canonical().to_string();
            assert!(reply.body.contains(&format!("source IP {address} is not allowed")), "{}", reply.body);
        }
        // A key without lists allows every address.
        assert_eq!(ask(&service, PROXY, ACME, &[("X-Forwarded-For", caller)]).await.status, 200);
    }
    // The proxy's own address counts without a header.
    assert_eq!(ask(&service, PROXY, LISTED, &[]).await.status, 403);
}

#[tokio::test]
async fn forwarded_address_counts_only_from_a_trusted_proxy() {
    let service = behind_a_proxy().await;
    let good = "203.0.113.5";
    let forgeries: &[(&str, Headers<'_>)] = &[
        (STRANGER, &[("X-Forwarded-For", good)]),
        ("127.0.0.1", &[("X-Forwarded-For", good)]),
        (PROXY, &[("Forwarded", "for=203.0.113.5")]),
        (PROXY, &[("X-Real-IP", good)]),
        (PROXY, &[("X-Client-IP", good), ("True-Client-IP", good), ("CF-Connecting-IP", good)]),
        (PROXY, &[("X-Forwarded-For", "203.0.113.5, 192.0.2.1")]),
        (PROXY, &[("X-Forwarded-For", good), ("X-Forwarded-For", "192.0.2.1")]),
        (PROXY, &[("X-Forwarded-For", "203.0.113.5, 127.0.0.3")]),
    ];
    for (source, headers) in forgeries {
        let reply = ask(&service, source, LISTED, headers).await;
        assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"), "{source} {headers:?}");
    }
    let chained = [("X-Forwarded-For", "192.0.2.1, 203.0.113.5"), ("X-Forwarded-For", "127.0.0.2")];
    assert_eq!(ask(&service, PROXY, LISTED, &chained).await.status, 200);
    // Without trusted proxies the header is ignored.
    let service = Service::start().await;
    assert_eq!(ask(&service, PROXY, LISTED, &[("X-Forwarded-For", good)]).await.status, 403);
}

#[tokio::test]
async fn unreadable_forwarded_address_is_on_no_list() {
    let service = behind_a_proxy().await;
    for odd in ["", "garbage", "203.0.113.5, garbage", "203.0.113.5,", "for=203.0.113.5"] {
        let reply = ask(&service, PROXY, LISTED, &[("X-Forwarded-For", odd)]).await;
        assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"), "{odd}");
        assert!(reply.body.contains("does not name a valid address"), "{}", reply.body);
        assert_eq!(ask(&service, PROXY, ACME, &[("X-Forwarded-For", odd)]).await.status, 200);
    }
}

#[tokio::test]
async fn address_is_checked_after_the_credentials_and_before_the_rate() {
    let service = behind_a_proxy().await;
    let mut client = Client::connect_from(PROXY, service.address).await;
    let listed = bearer(LISTED);
    let from = |caller: &'static str| [("Authorization", listed.as_str()), ("X-Forwarded-For", caller)];
    let wrong = [("Authorization", "Bearer listed-key:wrong"), ("X-Forwarded-For", "192.0.2.1")];
    assert_eq!(client.call("GET", "/api/v1/balance", &wrong, b"").await.status, 401);
    for _ in 0..5 {
        let reply = client.call("POST", "/api/v1/sms", &from("192.0.2.1"), b"{").await;
        assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"));
    }
    // The rate is two per second, and no token was taken.
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(client.call("GET", "/api/v1/balance", &from("203.0.113.5"), b"").await.status);
    }
    assert_eq!(statuses, [200, 200, 429]);
}

/// Fails to authenticate until limited. Returns the number of failures and the last response.
async fn failures(service: &Service, caller: &str) -> (u32, Reply) {
    let mut client = Client::connect_from(PROXY, service.address).await;
    let headers = [("Authorization", "Bearer slow-key:wrong"), ("X-Forwarded-For", caller)];
    for count in 0..50 {
        let reply = client.call("GET", "/api/v1/balance", &headers, b"").await;
        if reply.status != 401 {
            return (count, reply);
        }
        assert_eq!(reply.code(), "INVALID_API_KEY");
    }
    panic!("failed authentications are not limited");
}

#[tokio::test]
async fn address_is_limited_after_ten_failed_authentications() {
    let service = behind_a_proxy().await;
    let (count, reply) = failures(&service, "192.0.2.1").await;
    assert_eq!((count, reply.status, reply.code()), (10, 429, "RATE_LIMITED"));
    assert!(reply.body.contains("failed sign-ins"), "{}", reply.body);
    assert_eq!(reply.header("retry-after"), Some("6"));
    assert_eq!(reply.header("ratelimit"), Some(r#""failed-sign-ins";r=0;t=60"#));
    assert_eq!(reply.header("www-authenticate"), None);
    // Each address has its own limit; an IPv6 address counts as its /64.
    assert_eq!(failures(&service, "192.0.2.2").await.0, 10);
    assert_eq!(failures(&service, "2001:db8::1").await.0, 10);
    assert_eq!(failures(&service, "2001:db8::2:2").await.0, 0);
    assert_eq!(failures(&service, "2001:db8:0:1::1").await.0, 10);
    // One attempt is free again every six seconds.
    service.gateway.clock.advance(Duration::from_millis(5_999));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 0);
    service.gateway.clock.advance(Duration::from_millis(1));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 1);
    service.gateway.clock.advance(Duration::from_secs(3600));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 10);
}

#[tokio::test]
async fn valid_credentials_are_not_limited_by_failures_from_the_same_address() {
    let service = behind_a_proxy().await;
    let caller = [("X-Forwarded-For", "192.0.2.1")];
    for _ in 0..30 {
        assert_eq!(
            ask(&service, PROXY, SLOW, &caller).await.status,
            200,
            "successful authentications are not counted"
        );
    }
    assert_eq!(failures(&service, "192.0.2.1").await.0, 10);
    for _ in 0..5 {
        assert_eq!(ask(&service, PROXY, SLOW, &caller).await.status, 200);
    }
}

/// Sends one request with the right secret from this loopback address.
async fn right_secret_from(service: &Service, source: &str, key: &str) -> Reply {
    let mut client = Client::connect_from(source, service.address).await;
    let reply = client.get(key, "/api/v1/balance").await;
    // Refills the token bucket but not the failed attempts.
    service.gateway.clock.advance(Duration::from_millis(500));
    reply
}

/// Guesses secrets of a key until the address is limited.
async fn storm_from(service: &Service, source: &str, key: &str) {
    let mut client = Client::connect_from(source, service.address).await;
    for guess in 0..50 {
        let headers = [("X-API-Key", key), ("X-API-Secret", &format!("guess-{guess}"))];
        if client.call("GET", "/api/v1/balance", &headers, b"").await.status == 429 {
            return;
        }
    }
    panic!("guesses are not limited");
}

#[tokio::test]
async fn correct_secret_during_a_guessing_storm_is_rejected_from_that_address_only() {
    let service = Service::start().await;
    let attacker = "127.0.0.4";
    storm_from(&service, attacker, SLOW).await;
    let reply = right_secret_from(&service, attacker, SLOW).await;
    assert_eq!((reply.status, reply.code()), (429, "RATE_LIMITED"), "{}", reply.body);
    assert!(reply.header("retry-after").is_some());
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200, "another address");
    assert_eq!(right_secret_from(&service, attacker, ACME).await.status, 200, "another key");
    service.gateway.clock.advance(Duration::from_secs(60));
    assert_eq!(right_secret_from(&service, attacker, SLOW).await.status, 200, "the storm is over");
}

#[tokio::test]
async fn proven_address_is_not_rejected_during_a_guessing_storm() {
    let service = Service::start().await;
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200);
    for _ in 0..5 {
        storm_from(&service, STRANGER, SLOW).await;
        assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200);
    }
    // After a day without a successful authentication the address is no longer proven.
    service.gateway.clock.advance(Duration::from_secs(24 * 3600));
    storm_from(&service, STRANGER, SLOW).await;
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 429);
}
