//! Decisions of the contract about authentication, limits and errors, one test each.

use super::fixture::{ACME, Service, status_and_code};
use crate::client::bearer;
use crate::fixture::SECRET;
use hermod_gateway::config::IpNetwork;
use std::time::Duration;

const DE: &str = "+4915112345678";
const BALANCE: &str = "/api/v1/balance";

#[tokio::test]
async fn authorization_header_decides_when_several_credential_forms_are_present() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let good = bearer(ACME);
    let pair = [("X-API-Key", ACME), ("X-API-Secret", SECRET)];
    let wrong_pair = [("X-API-Key", ACME), ("X-API-Secret", "wrong-secret")];
    for (authorization, pair, status) in [
        (Some(good.as_str()), wrong_pair, 200),
        (Some("Bearer acme:wrong-secret"), pair, 401),
        (Some("Digest whatever"), pair, 401),
        (None, pair, 200),
        (None, wrong_pair, 401),
    ] {
        let mut headers = pair.to_vec();
        headers.extend(authorization.map(|value| ("Authorization", value)));
        assert_eq!(client.call("GET", BALANCE, &headers, b"").await.status, status, "{headers:?}");
    }
}

#[tokio::test]
async fn portal_cookies_never_authenticate_the_api() {
    let service = Service::start().await;
    let cookie = [("Cookie", "session=anything; __Host-session=anything")];
    assert_eq!(service.client().await.call("GET", BALANCE, &cookie, b"").await.status, 401);
}

#[tokio::test]
async fn error_code_is_in_the_error_field_and_in_a_header() {
    let service = Service::start().await;
    let reply = service.sms(ACME, "nonsense", "hello").await;
    assert_eq!(reply.header("x-error-code"), Some("INVALID_NUMBER"));
    let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    assert!(body["error"].as_str().unwrap().starts_with("INVALID_NUMBER: "), "{body}");
    assert_eq!(body.as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn every_authenticated_call_takes_a_token_and_a_401_takes_none() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for _ in 0..5 {
        assert_eq!(
            client.call("GET", BALANCE, &[("Authorization", "Bearer ten:wrong")], b"").await.status,
            401
        );
    }
    assert_eq!(service.keyed("ten", "k", DE, "hello").await.status, 202);
    for _ in 0..8 {
        assert_eq!(service.keyed("ten", "k", DE, "hello").await.status, 200);
    }
    let last = service.get("ten", "/api/v1/sms/1").await;
    assert_eq!(
        (last.status, last.header("x-ratelimit-remaining")),
        (404, Some("0")),
        "the 404 took the tenth token"
    );
    assert_eq!(service.keyed("ten", "k", DE, "hello").await.status, 429, "a replay takes a token");
}

#[tokio::test]
async fn failed_authentication_limit_per_address_never_stops_valid_credentials() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        let reply = client.call("GET", BALANCE, &[("Authorization", "Bearer acme:wrong")], b"").await;
        statuses.push(reply.status);
        if reply.status == 429 {
            assert_eq!(reply.code(), "RATE_LIMITED");
            assert!(reply.header("retry-after").is_some());
        }
        assert_eq!(service.get(ACME, BALANCE).await.status, 200, "valid credentials are not limited");
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[29], 429);
    service.advance(3600);
    let mut client = service.client().await;
    assert_eq!(client.call("GET", BALANCE, &[("Authorization", "Bearer acme:wrong")], b"").await.status, 401);
}

#[tokio::test]
async fn ip_lists_check_the_tcp_peer_or_the_address_from_a_trusted_proxy() {
    let service = Service::start().await;
    for (address, status) in [("203.0.113.9", 200), ("198.51.100.1", 200)] {
        let reply = service.get_from("both-lists", BALANCE, address).await;
        assert_eq!(reply.status, status, "no proxy is trusted here, so {address} is ignored");
    }
    let proxied = Service::start_with(|config| {
        config.http.trusted_proxies =
            ["127.0.0.1/32", "10.0.0.0/8"].map(|network| IpNetwork(network.parse().unwrap())).to_vec();
    })
    .await;
    for (address, status) in [
        ("203.0.113.9", 200),
        ("198.51.100.1", 403),
        ("203.0.113.10", 403),
        ("203.0.113.9, 198.51.100.1", 403),
        ("198.51.100.1, 203.0.113.9", 200),
        ("198.51.100.1, 203.0.113.9, 10.1.2.3", 200),
        ("203.0.113.9, nonsense", 403),
        ("::ffff:203.0.113.9", 200),
    ] {
        let reply = proxied.get_from("both-lists", BALANCE, address).await;
        assert_eq!(reply.status, status, "{address}: {}", reply.body);
    }
}

#[tokio::test]
async fn traffic_control_limits_messages_and_spend_per_utc_day() {
    let service = Service::start().await;
    for _ in 0..10 {
        assert_eq!(service.sms("daily", DE, "hello").await.status, 202);
    }
    let reply = service.sms("daily", DE, "hello").await;
    assert_eq!(
        (status_and_code(&reply), reply.header("retry-after")),
        ((429, "TRAFFIC_CONTROL"), Some("60"))
    );
    for _ in 0..2 {
        assert_eq!(service.sms("spender", DE, "0.05 of 0.12").await.status, 202);
    }
    assert_eq!(status_and_code(&service.sms("spender", DE, "hello").await), (429, "TRAFFIC_CONTROL"));
    assert_eq!(service.sms("spender", "+4917212345678", "0.02 still fit").await.status, 202);
    service.advance(60);
    assert_eq!(service.sms("daily", DE, "a new day").await.status, 202);
    assert_eq!(service.sms("spender", DE, "a new day").await.status, 202);
}

#[tokio::test]
async fn traffic_control_limits_velocity_per_recipient_and_per_range() {
    let service = Service::start().await;
    for _ in 0..2 {
        assert_eq!(service.sms("velocity", "+4915112340001", "hello").await.status, 202);
    }
    let reply = service.sms("velocity", "+4915112340001", "hello").await;
    assert_eq!(
        (status_and_code(&reply), reply.header("retry-after")),
        ((429, "TRAFFIC_CONTROL"), Some("30"))
    );
    assert_eq!(service.sms("velocity", "+4915112340002", "hello").await.status, 202);
    assert_eq!(
        status_and_code(&service.sms("velocity", "+4915112340003", "hello").await),
        (429, "TRAFFIC_CONTROL")
    );
    assert_eq!(service.sms("velocity", "+4915112350003", "another range").await.status, 202);
    service.advance(30);
    assert_eq!(service.sms("velocity", "+4915112340001", "hello").await.status, 202);
}

#[tokio::test]
async fn traffic_control_limits_velocity_per_country_except_listed_ones() {
    let service = Service::start().await;
    for number in ["+447700900001", "+447800900001"] {
        assert_eq!(service.sms("velocity", number, "hello").await.status, 202);
    }
    let reply = service.sms("velocity", "+447900900001", "hello").await;
    assert_eq!(
        (status_and_code(&reply), reply.header("retry-after")),
        ((429, "TRAFFIC_CONTROL"), Some("30"))
    );
    for range in 0..5 {
        let number = format!("+49151123{range}0001");
        assert_eq!(service.sms("velocity", &number, "at home").await.status, 202);
    }
    service.advance(30);
    assert_eq!(service.sms("velocity", "+447900900001", "hello").await.status, 202);
}

#[tokio::test]
async fn traffic_control_in_watch_mode_counts_and_rejects_nothing() {
    let service = Service::start().await;
    for _ in 0..3 {
        assert_eq!(service.sms("watched", DE, "hello").await.status, 202);
    }
    let account = service.account("watched");
    assert_eq!(service.gateway().watched.times(account, &"watching".into()), 2);
}

#[tokio::test]
async fn held_message_opens_a_case_and_an_approved_text_passes_for_seven_days() {
    let service = Service::start().await;
    let text = "see https://x.example";
    for _ in 0..3 {
        assert_eq!(status_and_code(&service.sms(ACME, DE, text).await), (403, "HELD_FOR_REVIEW"));
    }
    let store = &service.gateway().store;
    let cases = store.reviews().list(None, None, None, 10).await.unwrap();
    assert_eq!(cases.len(), 1, "repeated sends share one case");
    assert_eq!((cases[0].seen, cases[0].rules.as_slice()), (3, ["links".to_owned()].as_slice()));
    store
        .reviews()
        .decide(cases[0].id, true, "operator".to_owned(), String::new(), service.clock.now())
        .await
        .unwrap();
    assert_eq!(service.sms(ACME, DE, text).await.status, 202);
    assert_eq!(service.sms(ACME, "+4915112345679", text).await.status, 202, "same account, sender and text");
    assert_eq!(
        status_and_code(&service.sms(ACME, DE, "http://other.example").await),
        (403, "HELD_FOR_REVIEW")
    );
    assert_eq!(
        status_and_code(&service.sms("other", DE, text).await),
        (403, "HELD_FOR_REVIEW"),
        "another account's"
    );
    service.advance(7 * 24 * 3600 + 1);
    assert_eq!(status_and_code(&service.sms(ACME, DE, text).await), (403, "HELD_FOR_REVIEW"), "a week later");
}

#[tokio::test]
async fn cost_over_available_minus_the_minimum_threshold_is_rejected_with_402() {
    let service = Service::start().await;
    assert_eq!(service.sms("poor", DE, "0.05 of 0.1 - 0.02").await.status, 202);
    assert_eq!(
        status_and_code(&service.sms("poor", DE, "0.05 of 0.05 - 0.02").await),
        (402, "INSUFFICIENT_CREDIT")
    );
    assert_eq!(service.sms("poor", "+4917212345678", "0.02 of 0.05 - 0.02").await.status, 202);
    assert_eq!(
        status_and_code(&service.sms("poor", "+4917212345678", "0.02 of 0.03 - 0.02").await),
        (402, "INSUFFICIENT_CREDIT")
    );
}

#[tokio::test]
async fn every_response_has_the_documented_headers() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let key = bearer(ACME);
    let auth = [("Authorization", key.as_str()), ("X-Request-Id", "order-7")];
    for (method, path, headers, status) in [
        ("GET", BALANCE, &auth[..], 200),
        ("GET", "/api/v1/sms/1", &auth[..], 404),
        ("GET", BALANCE, &auth[1..], 401),
        ("DELETE", "/api/v1/sms", &auth[..], 405),
        ("GET", "/api/v1/nothing", &auth[..], 404),
    ] {
        let reply = client.call(method, path, headers, b"").await;
        assert_eq!(reply.status, status, "{method} {path}");
        assert_eq!(reply.header("x-request-id"), Some("order-7"), "{method} {path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{method} {path}");
        if status != 200 {
            assert_ne!(reply.code(), "", "{method} {path}");
        }
        if status == 405 {
            assert_eq!(reply.header("allow"), Some("POST"));
        }
        for header in ["ratelimit", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert!(reply.header(header).is_some(), "{method} {path} has no {header}");
        }
    }
    let insane = client.call("GET", BALANCE, &[auth[0], ("X-Request-Id", &"x".repeat(500))], b"").await;
    let made = insane.header("x-request-id").unwrap();
    assert!(!made.is_empty() && made.len() < 100, "{made}");
}

#[tokio::test]
async fn token_bucket_refills_continuously_up_to_its_capacity() {
    let service = Service::start().await;
    for _ in 0..10 {
        service.get("ten", BALANCE).await;
    }
    for (wait_ms, status) in [(50, 429), (50, 200), (100, 200), (99, 429)] {
        service.clock.advance(Duration::from_millis(wait_ms));
        assert_eq!(service.get("ten", BALANCE).await.status, status, "{wait_ms} ms");
    }
}
