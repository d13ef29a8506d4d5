//! Connection timeouts and connection limits.

use crate::client::{Client, bearer};
use crate::fixture::{LIMITS, Service};
use crate::test_customers::ACME;
use hermod_gateway::http::HttpLimits;
use std::time::Duration;

/// Advances the clock second by second until the connection ends or bytes arrive. Returns the number of seconds.
async fn seconds_until_bytes_or_close(service: &Service, client: &mut Client) -> u32 {
    let mut seconds = 0;
    while !client.closes_within(Duration::from_millis(20)).await && !client.has_unread() {
        seconds += 1;
        assert!(seconds < 300, "nothing happens");
        service.gateway.clock.advance(Duration::from_secs(1));
    }
    seconds
}

#[tokio::test]
async fn incomplete_head_closes_the_connection_after_its_timeout() {
    let service = Service::start().await;
    for first in ["", "GET /api", "GET /api/v1/balance HTTP/1.1\r\nHost: t\r\nX-Slow: "] {
        let mut client = service.client().await;
        client.write(first).await;
        let seconds = seconds_until_bytes_or_close(&service, &mut client).await;
        assert!(seconds >= 10, "{first:?} ended after {seconds} s of the 10 it has");
        assert!(!client.has_unread(), "{first:?}");
    }
    // The same on a reused connection.
    let mut client = service.client().await;
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
    client.write("GET /api").await;
    let seconds = seconds_until_bytes_or_close(&service, &mut client).await;
    assert!((10..75).contains(&seconds), "ended after {seconds} s of the 10 it has");
    service.assert_still_serving().await;
}

#[tokio::test]
async fn trickled_header_bytes_do_not_extend_the_timeout() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write("GET /api/v1/balance HTTP/1.1\r\nX-Slow: ").await;
    let mut seconds = 0;
    while !client.closes_within(Duration::from_millis(20)).await {
        client.write_while_open(b"x").await;
        service.gateway.clock.advance(Duration::from_secs(1));
        seconds += 1;
        assert!(seconds < 60, "still open");
    }
    assert!(seconds >= 10, "closed after {seconds} s");
}

#[tokio::test]
async fn incomplete_body_gets_400_after_its_timeout_and_closes_the_connection() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client
        .write(format!(
            "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
             Content-Length: 100\r\n\r\n{{\"to\":",
            bearer(ACME)
        ))
        .await;
    let seconds = seconds_until_bytes_or_close(&service, &mut client).await;
    assert!(seconds >= 30, "ended after {seconds} s of the 30 it has");
    let reply = client.read().await.unwrap();
    assert_eq!((reply.status, reply.code()), (400, "INVALID_JSON"));
    assert!(reply.body.contains("too long to arrive"), "{}", reply.body);
    assert!(client.is_closed().await);
    service.assert_still_serving().await;
}

#[tokio::test]
async fn idle_connection_is_kept_for_75_seconds() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for _ in 0..3 {
        assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
        // In steps: each timeout check must leave the connection open.
        for _ in 0..7 {
            service.gateway.clock.advance(Duration::from_secs(10));
            assert!(!client.closes_within(Duration::from_millis(5)).await);
        }
    }
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
    let seconds = seconds_until_bytes_or_close(&service, &mut client).await;
    assert!(seconds >= 75, "closed after {seconds} s of the 75 it has");
}

#[tokio::test]
async fn connection_over_the_limit_waits_for_a_free_slot() {
    let service = Service::start_with(HttpLimits { connections_max: 2, ..LIMITS }).await;
    let (mut one, mut two) = (service.client().await, service.client().await);
    assert_eq!(one.get(ACME, "/api/v1/balance").await.status, 200);
    assert_eq!(two.get(ACME, "/api/v1/balance").await.status, 200);
    let mut three = service.client().await;
    three.write(crate::client::request("GET", "/healthz", &[], b"")).await;
    assert!(!three.closes_within(Duration::from_millis(50)).await);
    assert!(!three.has_unread(), "a third connection was served");
    drop(one);
    assert_eq!(three.read().await.unwrap().status, 200);
    drop(two);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let bearer = bearer(ACME);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let send =
        crate::client::request("POST", "/api/v1/sms", &headers, br#"{"to":"+4915112345678","text":"hello"}"#);
    let balance = crate::client::request("GET", "/api/v1/balance", &headers, b"");
    client.write([send.clone(), balance.clone(), send, balance].concat()).await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(client.read().await.unwrap().status);
    }
    assert_eq!(seen, [202, 200, 202, 200]);
}

#[tokio::test]
async fn client_that_half_closes_after_a_request_gets_the_response() {
    let service = Service::start().await;
    let bearer = bearer(ACME);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let send =
        crate::client::request("POST", "/api/v1/sms", &headers, br#"{"to":"+4915112345678","text":"hello"}"#);
    let mut client = service.client().await;
    client.write(send).await;
    client.finish_writing().await;
    assert_eq!(client.read().await.unwrap().status, 202);
    assert!(client.is_closed().await);
    // Without a pending request the connection is closed.
    let mut client = service.client().await;
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
    client.finish_writing().await;
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn connections_over_the_limit_of_one_address_are_closed() {
    let service = Service::start_with(HttpLimits { per_address_max: 2, ..LIMITS }).await;
    let (mut first, _second) = (service.client().await, service.client().await);
    assert_eq!(first.get(ACME, "/api/v1/balance").await.status, 200);
    let mut third = service.client().await;
    assert!(third.is_closed().await, "the limit of one address is two");
    drop(first);
    // The slot is free once the gateway has noticed the close.
    while service.client().await.closes_within(Duration::from_millis(50)).await {}
}
