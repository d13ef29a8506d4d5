//! The HTTP limits of the contract, one test each.

use super::fixture::{ACME, Service, raw_field, status_and_code};
use hermod_store::Inbound;

const DE: &str = "+4915112345678";

#[tokio::test]
async fn limit_ten_requests_per_second_by_default_a_bucket_per_connection_shared_by_its_keys() {
    let service = Service::start().await;
    for place in 0..10 {
        let key = if place % 2 == 0 { "ten" } else { "ten-second" };
        let reply = service.get(key, "/api/v1/balance").await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("x-ratelimit-limit"), Some("10"));
        assert_eq!(reply.header("x-ratelimit-remaining"), Some((9 - place).to_string().as_str()));
    }
    for key in ["ten", "ten-second"] {
        assert_eq!(status_and_code(&service.sms(key, DE, "hello").await), (429, "RATE_LIMITED"), "{key}");
    }
    assert_eq!(service.get(ACME, "/api/v1/balance").await.status, 200, "another connection has its own");
    service.clock.advance(std::time::Duration::from_millis(100));
    assert_eq!(service.get("ten", "/api/v1/balance").await.status, 200, "it refills continuously");
    assert_eq!(service.get("ten", "/api/v1/balance").await.status, 429);
}

#[tokio::test]
async fn limit_higher_rates_are_a_setting_of_the_connection() {
    let service = Service::start().await;
    for _ in 0..50 {
        assert_eq!(service.get(ACME, "/api/v1/balance").await.status, 200);
    }
}

#[tokio::test]
async fn limit_rate_limit_response_is_429_with_retry_after_1() {
    let service = Service::start().await;
    let mut last = service.get("ten", "/api/v1/balance").await;
    for _ in 0..10 {
        last = service.get("ten", "/api/v1/balance").await;
    }
    assert_eq!(status_and_code(&last), (429, "RATE_LIMITED"));
    assert_eq!(last.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn limit_text_length_1600_characters() {
    let service = Service::start().await;
    assert_eq!(service.sms(ACME, DE, &"\u{e9}".repeat(1600)).await.status, 202);
    assert_eq!(status_and_code(&service.sms(ACME, DE, &"\u{e9}".repeat(1601)).await), (400, "TEXT_TOO_LONG"));
}

#[tokio::test]
async fn limit_sender_id_at_most_11_characters_when_alphanumeric() {
    let service = Service::start().await;
    assert_eq!(
        status_and_code(&service.sms_from(ACME, "ElevenChars").await),
        (403, "SENDER_NOT_APPROVED"),
        "well formed"
    );
    assert_eq!(status_and_code(&service.sms_from(ACME, "TwelveCharsX").await), (400, "INVALID_SENDER"));
}

#[tokio::test]
async fn limit_inbound_page_size_default_100_maximum_500() {
    let service = Service::start().await;
    let account = service.account(ACME);
    for number in 0..510 {
        let inbound = Inbound {
            account,
            from: "+4915112345678".to_owned(),
            to: "Acme".to_owned(),
            text: format!("reply {number} \"quoted\""),
            received_at: service.clock.now(),
        };
        service.gateway().store.inbound().receive(inbound).await.unwrap();
    }
    for (query, count, next) in [
        ("", "100", "100"),
        ("?since=0", "100", "100"),
        ("?since=0&limit=7", "7", "7"),
        ("?limit=500", "500", "500"),
        ("?limit=501", "500", "500"),
        ("?limit=99999999999999999999", "500", "500"),
        ("?since=500&limit=500", "10", "510"),
        ("?since=510", "0", "510"),
        ("?since=9999", "0", "9999"),
    ] {
        let reply = service.get(ACME, &format!("/api/v1/inbound{query}")).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.body);
        assert_eq!(raw_field(&reply.body, "count"), count, "{query}");
        assert_eq!(raw_field(&reply.body, "next_since"), next, "{query}");
    }
    for query in ["?limit=0", "?limit=-1", "?limit=ten", "?limit=", "?limit=1.5", "?since=x", "?since=-1"] {
        let reply = service.get(ACME, &format!("/api/v1/inbound{query}")).await;
        assert_eq!(status_and_code(&reply), (400, "INVALID_FIELD"), "{query}");
    }
    let other = service.get("other", "/api/v1/inbound").await;
    assert_eq!(raw_field(&other.body, "count"), "0", "every account has its own");
}

#[tokio::test]
async fn limit_idempotency_a_repeated_key_never_sends_or_charges_twice() {
    let service = Service::start().await;
    let first = service.keyed(ACME, "order-1", DE, "hello").await;
    assert_eq!(first.status, 202);
    for _ in 0..5 {
        let again = service.keyed(ACME, "order-1", DE, "hello").await;
        assert_eq!((again.status, again.field("message_id")), (200, first.field("message_id")));
    }
    assert_eq!(service.balance(ACME).await, "9.95");
}
