//! Health, readiness, metrics, and graceful stop.

use crate::fixture::{Opening, Service};
use crate::test_customers::ACME;
use hermod_domain::hold::Hold;
use hermod_gateway::edges::http_api::RenderMetrics;
use metrics_exporter_prometheus::PrometheusBuilder;
use std::sync::Arc;
use std::time::Duration;

const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;

#[tokio::test]
async fn health_readiness_and_metrics_need_no_credentials() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for (path, body) in [("/healthz", "alive\n"), ("/readyz", "ready\n"), ("/metrics", "hermod_up 1\n")] {
        let reply = client.call("GET", path, &[], b"").await;
        assert_eq!((reply.status, reply.body.as_str()), (200, body), "{path}");
        assert!(reply.header("content-type").unwrap().starts_with("text/plain"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[tokio::test]
async fn requests_are_counted_by_route_and_status() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    // The recorder of this thread; the whole test runs on it.
    let _guard = metrics::set_default_local_recorder(&recorder);
    let render: RenderMetrics = Arc::new(move || Box::pin(std::future::ready(handle.render())));
    let service = Service::open(Opening { metrics: render, ..Opening::default() }).await;
    let mut client = service.client().await;
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    for _ in 0..2 {
        assert_eq!(client.send(ACME, &[], body).await.status, 202);
    }
    assert_eq!(client.send(ACME, &[], "{").await.status, 400);
    assert_eq!(client.get(ACME, "/api/v1/sms/7").await.status, 404);
    assert_eq!(client.get(ACME, "/nowhere/4915112345678").await.status, 404);
    assert_eq!(client.call("PUT", "/api/v1/balance", &[], b"").await.status, 405);
    let text = client.call("GET", "/metrics", &[], b"").await.body;
    for line in [
        r#"hermod_http_requests_total{route="/api/v1/sms",status="202"} 2"#,
        r#"hermod_http_requests_total{route="/api/v1/sms",status="400"} 1"#,
        r#"hermod_http_requests_total{route="/api/v1/sms/{id}",status="404"} 1"#,
        r#"hermod_http_requests_total{route="unknown",status="404"} 1"#,
        r#"hermod_http_requests_total{route="/api/v1/balance",status="405"} 1"#,
        r#"hermod_http_request_duration_seconds_count{route="/api/v1/sms"} 3"#,
        "hermod_http_connections 1",
    ] {
        assert!(text.lines().any(|given| given == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("4915112345678"));
}

#[tokio::test]
async fn draining_gateway_is_alive_but_not_ready() {
    let service = Service::start().await;
    service.gateway.start_draining();
    let mut client = service.client().await;
    let reply = client.call("GET", "/readyz", &[], b"").await;
    assert_eq!(reply.status, 503);
    assert!(reply.body.starts_with("draining"), "{}", reply.body);
    assert_eq!(client.call("GET", "/healthz", &[], b"").await.status, 200);
}

#[tokio::test]
async fn held_gateway_rejects_messages_and_is_not_ready_unless_it_accepts_them() {
    let service = Service::start().await;
    let first = service.send(ACME, &[("Idempotency-Key", "k")], SEND).await;
    let mut client = service.client().await;
    let now = service.gateway.clock.now();
    let closed = Hold::of_backup(now);
    hold(&service, Some(closed)).await;
    let reply = client.call("GET", "/readyz", &[], b"").await;
    assert_eq!((reply.status, reply.body.starts_with("held")), (503, true), "{}", reply.body);
    assert_eq!(client.call("GET", "/healthz", &[], b"").await.status, 200);
    let reply = service.send(ACME, &[], SEND).await;
    assert_eq!((reply.status, reply.code()), (503, "GATEWAY_UNAVAILABLE"));
    assert_eq!(reply.header("retry-after"), Some("60"));
    let again = service.send(ACME, &[("Idempotency-Key", "k")], SEND).await;
    assert_eq!((again.status, again.field("message_id")), (200, first.field("message_id")));
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200, "customers can read");

    hold(&service, Some(Hold { accepts_messages: true, ..closed })).await;
    let reply = client.call("GET", "/readyz", &[], b"").await;
    assert_eq!((reply.status, reply.body.contains("held")), (200, true), "{}", reply.body);
    assert_eq!(service.send(ACME, &[], SEND).await.status, 202);
    hold(&service, None).await;
    let reply = client.call("GET", "/readyz", &[], b"").await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "ready\n"));
    assert_eq!(service.send(ACME, &[], SEND).await.status, 202);
}

async fn hold(service: &Service, hold: Option<Hold>) {
    service.gateway.store.setup().set_hold(hold.as_ref()).await.expect("the store answers");
    service.gateway.read_hold().await.expect("the store answers");
}

#[tokio::test]
async fn stop_finishes_requests_in_flight_and_closes_idle_connections() {
    let service = Service::start().await;
    let mut idle = service.client().await;
    assert_eq!(idle.get(ACME, "/api/v1/balance").await.status, 200);
    let mut fresh = service.client().await;
    let mut busy = service.client().await;
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    let (first, rest) = body.split_at(10);
    let bearer = crate::client::bearer(ACME);
    busy.write(format!(
        "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ))
    .await;
    // 100 Continue shows that the request is in flight.
    assert_eq!(busy.read().await.unwrap().status, 100);
    busy.write(first).await;

    let workers = service.workers.clone();
    let stopped = async { workers.stop().await };
    let finish = async {
        assert!(idle.is_closed().await);
        assert!(fresh.is_closed().await);
        busy.write(rest).await;
        let reply = busy.read().await.unwrap();
        assert_eq!((reply.status, reply.header("connection")), (202, Some("close")));
        assert!(busy.is_closed().await);
    };
    tokio::join!(stopped, finish);
    assert!(tokio::net::TcpStream::connect(service.address).await.is_err());
}

#[tokio::test]
async fn gateway_that_leaves_serves_kept_connections_and_closes_them_after_the_response() {
    let service = Service::start().await;
    let mut kept = service.client().await;
    assert_eq!(kept.get(ACME, "/api/v1/balance").await.status, 200);
    let mut fresh = service.client().await;
    service.gateway.announce_stop();
    assert_eq!(kept.call("GET", "/readyz", &[], b"").await.status, 503);
    let left = service.workers.leave_within(Duration::from_secs(600));
    let served = async {
        while tokio::net::TcpStream::connect(service.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        for client in [&mut kept, &mut fresh] {
            let reply = client.send(ACME, &[], r#"{"to":"+4915112345678","text":"still here"}"#).await;
            assert_eq!((reply.status, reply.header("connection")), (202, Some("close")));
            assert!(client.is_closed().await);
        }
    };
    tokio::join!(left, served);
}

#[tokio::test]
async fn stop_closes_an_unfinished_request_after_five_seconds() {
    let service = Service::start().await;
    let mut stuck = service.client().await;
    let bearer = crate::client::bearer(ACME);
    stuck
        .write(format!(
            "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
             Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"
        ))
        .await;
    assert_eq!(stuck.read().await.unwrap().status, 100);
    let workers = service.workers.clone();
    let stopped = async { workers.stop().await };
    let wait = async {
        let mut seconds = 0;
        while !stuck.closes_within(Duration::from_millis(20)).await {
            seconds += 1;
            service.gateway.clock.advance(Duration::from_secs(1));
        }
        assert!(seconds >= 5, "closed after {seconds} s of the 5 it may take");
    };
    tokio::join!(stopped, wait);
}

#[tokio::test]
async fn root_path_redirects_to_the_documentation() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let reply = client.call("GET", "/", &[], b"").await;
    assert_eq!((reply.status, reply.header("location")), (303, Some("/docs")));
    assert!(reply.body.contains("/docs"), "{}", reply.body);
    let page = client.call("GET", "/docs", &[], b"").await;
    assert_eq!(page.status, 200);
    for said in ["Webhooks</h2>", "SMPP</h2>", "X-SVC-Signature", "enquire_link"] {
        assert!(page.body.contains(said), "{said} is not on the page");
    }
}
