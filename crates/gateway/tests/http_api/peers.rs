//! Whose address a caller has: its own, or what a trusted proxy says. The loopback has many addresses; here
//! 127.0.0.2 is a proxy and 127.0.0.3 is not.

use crate::client::{Client, Headers, Reply, bearer};
use crate::customers::{ACME, LISTED, SLOW};
use crate::service::{Opening, Service};
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
    // Each case has a full bucket.
    service.world.clock.advance(Duration::from_secs(1));
    reply
}

#[tokio::test]
async fn both_lists_must_admit_the_caller() {
    let service = behind_a_proxy().await;
    for (caller, status) in [
        ("203.0.113.5", 200),
        ("::ffff:203.0.113.5", 200),
        // On the key's list alone, on the connection's alone, on neither.
        ("203.0.113.200", 403),
        ("198.51.100.1", 403),
        ("192.0.2.1", 403),
        ("2001:db8::1", 403),
    ] {
        let reply = ask(&service, PROXY, LISTED, &[("X-Forwarded-For", caller)]).await;
        assert_eq!(reply.status, status, "{caller}");
        if status == 403 {
            assert_eq!(reply.code(), "IP_NOT_ALLOWED");
            let told = caller.parse::<std::net::IpAddr>().unwrap().to_canonical().to_string();
            assert!(reply.body.contains(&format!("source IP {told} is not allowed")), "{}", reply.body);
        }
        // A key without lists is for everyone.
        assert_eq!(ask(&service, PROXY, ACME, &[("X-Forwarded-For", caller)]).await.status, 200);
    }
    // The proxy itself calls.
    assert_eq!(ask(&service, PROXY, LISTED, &[]).await.status, 403);
}

#[tokio::test]
async fn nobody_but_a_trusted_proxy_is_believed() {
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
    // A listener without proxies believes nobody at all.
    let service = Service::start().await;
    assert_eq!(ask(&service, PROXY, LISTED, &[("X-Forwarded-For", good)]).await.status, 403);
}

#[tokio::test]
async fn a_caller_whose_address_is_unreadable_is_on_no_list() {
    let service = behind_a_proxy().await;
    for odd in ["", "garbage", "203.0.113.5, garbage", "203.0.113.5,", "for=203.0.113.5"] {
        let reply = ask(&service, PROXY, LISTED, &[("X-Forwarded-For", odd)]).await;
        assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"), "{odd}");
        assert!(reply.body.contains("did not say readably"), "{}", reply.body);
        assert_eq!(ask(&service, PROXY, ACME, &[("X-Forwarded-For", odd)]).await.status, 200);
    }
}

#[tokio::test]
async fn the_address_is_checked_after_the_credentials_and_before_the_bucket() {
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
    // Two a second, and none was taken.
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(client.call("GET", "/api/v1/balance", &from("203.0.113.5"), b"").await.status);
    }
    assert_eq!(statuses, [200, 200, 429]);
}

/// Failed sign-ins until they are limited, and what the caller is told then.
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
    panic!("nothing limits failed sign-ins");
}

#[tokio::test]
async fn after_ten_failed_sign_ins_an_address_has_to_wait() {
    let service = behind_a_proxy().await;
    let (count, reply) = failures(&service, "192.0.2.1").await;
    assert_eq!((count, reply.status, reply.code()), (10, 429, "RATE_LIMITED"));
    assert!(reply.body.contains("failed sign-ins"), "{}", reply.body);
    assert_eq!(reply.header("retry-after"), Some("6"));
    assert_eq!(reply.header("ratelimit"), Some(r#""failed-sign-ins";r=0;t=60"#));
    assert_eq!(reply.header("www-authenticate"), None);
    // Another address, another ten; a v6 address stands for its whole /64.
    assert_eq!(failures(&service, "192.0.2.2").await.0, 10);
    assert_eq!(failures(&service, "2001:db8::1").await.0, 10);
    assert_eq!(failures(&service, "2001:db8::2:2").await.0, 0);
    assert_eq!(failures(&service, "2001:db8:0:1::1").await.0, 10);
    // One comes back every six seconds.
    service.world.clock.advance(Duration::from_millis(5_999));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 0);
    service.world.clock.advance(Duration::from_millis(1));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 1);
    service.world.clock.advance(Duration::from_secs(3600));
    assert_eq!(failures(&service, "192.0.2.1").await.0, 10);
}

#[tokio::test]
async fn whoever_signs_in_well_is_never_held_up_by_others_failures() {
    let service = behind_a_proxy().await;
    let caller = [("X-Forwarded-For", "192.0.2.1")];
    for _ in 0..30 {
        assert_eq!(ask(&service, PROXY, SLOW, &caller).await.status, 200, "good ones are not counted");
    }
    assert_eq!(failures(&service, "192.0.2.1").await.0, 10);
    for _ in 0..5 {
        assert_eq!(ask(&service, PROXY, SLOW, &caller).await.status, 200);
    }
}

/// One call with the right secret, from an address of the loopback.
async fn right_secret_from(service: &Service, source: &str, key: &str) -> Reply {
    let mut client = Client::connect_from(source, service.address).await;
    let reply = client.get(key, "/api/v1/balance").await;
    // Each call has a full bucket, and the failed sign-ins have not come back.
    service.world.clock.advance(Duration::from_millis(500));
    reply
}

/// Guesses at a key until the address is told to wait.
async fn storm_from(service: &Service, source: &str, key: &str) {
    let mut client = Client::connect_from(source, service.address).await;
    for guess in 0..50 {
        let headers = [("X-API-Key", key), ("X-API-Secret", &format!("guess-{guess}"))];
        if client.call("GET", "/api/v1/balance", &headers, b"").await.status == 429 {
            return;
        }
    }
    panic!("nothing limits guesses");
}

#[tokio::test]
async fn correct_guess_within_a_storm_is_refused_from_that_address_only() {
    let service = Service::start().await;
    let attacker = "127.0.0.4";
    storm_from(&service, attacker, SLOW).await;
    let reply = right_secret_from(&service, attacker, SLOW).await;
    assert_eq!((reply.status, reply.code()), (429, "RATE_LIMITED"), "{}", reply.body);
    assert!(reply.header("retry-after").is_some());
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200, "another address");
    assert_eq!(right_secret_from(&service, attacker, ACME).await.status, 200, "another key");
    service.world.clock.advance(Duration::from_secs(60));
    assert_eq!(right_secret_from(&service, attacker, SLOW).await.status, 200, "the storm is over");
}

#[tokio::test]
async fn proven_address_is_never_refused_within_a_storm() {
    let service = Service::start().await;
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200);
    for _ in 0..5 {
        storm_from(&service, STRANGER, SLOW).await;
        assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 200);
    }
    // A day without a sign-in, and it has to be proven again.
    service.world.clock.advance(Duration::from_secs(24 * 3600));
    storm_from(&service, STRANGER, SLOW).await;
    assert_eq!(right_secret_from(&service, STRANGER, SLOW).await.status, 429);
}
