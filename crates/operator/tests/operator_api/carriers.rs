//! Carriers, links, alarms, PDU traces and carrier tests over the operator API.

use crate::fixture::ApiFixture;
use hermod_domain::carrier::{ErrorClass, Health, IdConversion};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::ReceiptWords;
use hermod_gateway::edges::carrier::serve_probes;
use hermod_gateway::live_status::{AlarmKind, Direction, LinkSettings, LinkState, PduDirection};
use hermod_gateway::workers::Workers;
use hermod_store::{LinkKind, LinkNumber, ReceiptRecord};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::Level;

fn acme(fixture: &ApiFixture) -> CarrierId {
    fixture.gateway.catalogue().carriers()[0].0
}

#[tokio::test]
async fn link_view_has_its_state_and_counts() {
    let fixture = ApiFixture::open().await.running();
    let gateway = &fixture.gateway;
    let unseen = fixture.get("/links").await.body;
    assert_eq!(
        (&unseen["items"][0]["carrier"], &unseen["items"][0]["health"], &unseen["items"][0]["links"]),
        (&json!("acme"), &json!("down"), &json!([]))
    );
    let settings = LinkSettings { address: "127.0.0.1:1".to_owned(), tls: false, window: 10, full_rate: 100 };
    let state = gateway.carriers.open(acme(&fixture), "acme");
    let now = gateway.clock.now();
    let link = state.link(1, Direction::Both, settings.clone(), now);
    link.enter(LinkState::Bound, now);
    let other = state.link(2, Direction::Both, settings, now);
    other.failed("cannot connect: refused".to_owned(), now);
    other.wait_until(now.plus(Duration::from_secs(40)), now);
    state.set_health(Health::Up);
    link.submitted(30, gateway.clock.moment());
    link.set_out(4);
    link.set_rate(50, true);
    (0..8).for_each(|_| link.accepted());
    (0..4).for_each(|_| link.receipt());
    link.refused(ErrorClass::Temporary);
    link.refused(ErrorClass::Throttled);
    link.unmatched_receipts(1);
    gateway.clock.advance(Duration::from_secs(10));

    let body = fixture.get("/links").await.body;
    let seen = &body["items"][0];
    assert_eq!((&seen["health"], &seen["stopped"]), (&json!("up"), &Value::Null));
    assert_eq!(
        seen["queue"],
        json!({"waiting": 0, "deferred": 0, "in_flight": 0, "oldest": null, "oldest_for_s": null})
    );
    let bound = &seen["links"][0];
    assert_eq!(
        (&bound["state"], &bound["for_s"], &bound["next_attempt_at"]),
        (&json!("bound"), &json!(10), &Value::Null)
    );
    assert_eq!(
        (&bound["rate"], &bound["full_rate"], &bound["out"], &bound["window"]),
        (&json!(50), &json!(100), &json!(4), &json!(10))
    );
    let totals = &bound["totals"];
    assert_eq!(totals["refused"], json!({"throttled": 1, "temporary": 1}));
    assert_eq!(
        (&totals["error_ratio"], &totals["receipt_ratio"], &totals["unmatched_ratio"]),
        (&json!(0.1), &json!(0.5), &json!(0.25))
    );
    let waiting = &seen["links"][1];
    assert_eq!((&waiting["state"], &waiting["next_attempt_in_s"]), (&json!("waiting"), &json!(30)));
    assert_eq!(waiting["last_error"]["text"], "cannot connect: refused");
}

#[tokio::test]
async fn stopped_carrier_is_resumed() {
    let fixture = ApiFixture::open().await.running();
    let state = fixture.gateway.carriers.open(acme(&fixture), "acme");
    state.stop("it said 80 times a minute that we are wrong".to_owned(), fixture.gateway.clock.now());
    fixture.gateway.alarms.raise(
        AlarmKind::CarrierStopped,
        "acme",
        "",
        "stopped",
        fixture.gateway.clock.now(),
    );
    let seen = fixture.get("/links").await.body["items"][0].clone();
    assert_eq!(
        (&seen["health"], &seen["stopped"]["since"]),
        (&json!("stopped"), &json!("2026-06-15T12:00:00Z"))
    );
    let resumed = fixture.post("/carriers/acme/resume", json!({})).await;
    assert_eq!(resumed.body, json!({"carrier": "acme", "resumed": true}));
    assert_eq!(fixture.post("/carriers/acme/resume", json!({})).await.body["resumed"], false);
    assert_eq!(fixture.get("/alarms").await.body, json!({"items": []}));
    assert_eq!(fixture.post("/carriers/nobody/resume", json!({})).await.status, 404);
}

#[tokio::test]
async fn alarms_have_an_instruction_and_can_be_acknowledged() {
    let fixture = ApiFixture::open().await.running();
    let (alarms, now) = (&fixture.gateway.alarms, fixture.gateway.clock.now());
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "it answered 0x400", now);
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "it answered 0x400", now);
    alarms.raise(AlarmKind::CarrierDown, "beta", "", "no link for a minute", now);
    let body = fixture.get("/alarms").await.body;
    assert_eq!(
        body["items"][0],
        json!({
            "kind": "unknown-status", "severity": "warning", "carrier": "acme", "account": "", "about": "0x400", "detail": "it answered 0x400", "count": 2,
            "what_to_do": "Ask the carrier what the code means and add it to the retry list.",
            "first_at": "2026-06-15T12:00:00Z", "last_at": "2026-06-15T12:00:00Z",
        })
    );
    assert_eq!(fixture.get("/alarms?carrier=beta").await.body["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(fixture.delete("/alarms?carrier=acme").await.body, json!({"acknowledged": 1}));
    assert_eq!(fixture.delete("/alarms").await.body, json!({"acknowledged": 1}));
    assert_eq!(fixture.get("/alarms").await.body, json!({"items": []}));
    assert_eq!(fixture.get("/alarms?carier=x").await.status, 400);
}

#[tokio::test]
async fn carrier_trace_ends_after_its_duration() {
    let fixture = ApiFixture::open().await.running();
    let gateway = &fixture.gateway;
    assert_eq!(
        fixture.get("/carriers/acme/trace").await.body,
        json!({"items": [], "next": 0, "until": null})
    );
    let started = fixture.put("/carriers/acme/trace", json!({"for": "60s"})).await.body;
    assert_eq!(started, json!({"carrier": "acme", "until": "2026-06-15T12:01:00Z"}));
    let state = gateway.carriers.get(acme(&fixture)).unwrap();
    let note = |way, line: &str| state.trace.note(1, way, line.to_owned(), gateway.clock.now());
    note(PduDirection::Out, "enquire_link seq=1");
    note(PduDirection::In, "enquire_link_resp seq=1");
    let read = fixture.get("/carriers/acme/trace").await.body;
    assert_eq!((&read["next"], &read["until"]), (&json!(2), &json!("2026-06-15T12:01:00Z")));
    let rest = fixture.get("/carriers/acme/trace?after=1").await.body;
    assert_eq!(
        rest["items"],
        json!([{"seq": 2, "at": "2026-06-15T12:00:00Z", "link": 1, "way": "in", "line": "enquire_link_resp seq=1"}])
    );
    assert_eq!(fixture.get("/carriers/acme/trace?after=2").await.body["next"], 2);
    gateway.clock.advance(Duration::from_secs(61));
    assert_eq!(fixture.get("/carriers/acme/trace").await.body["until"], Value::Null);
    fixture.put("/carriers/acme/trace", json!({"for": "10s"})).await;
    assert_eq!(fixture.delete("/carriers/acme/trace").await.body, json!({"carrier": "acme", "until": null}));
    for (body, status) in [
        (json!({"for": "2h"}), 400),
        (json!({"for": "1ms"}), 400),
        (json!({"for": "long"}), 400),
        (json!({}), 400),
        (json!({"for": "1s", "x": 1}), 400),
    ] {
        assert_eq!(fixture.put("/carriers/acme/trace", body.clone()).await.status, status, "{body}");
    }
    assert_eq!(fixture.put("/carriers/nobody/trace", json!({"for": "1s"})).await.status, 404);
    assert_eq!(fixture.get("/carriers/acme/trace?after=x").await.status, 400);
}

#[tokio::test]
async fn carrier_test_sends_one_message() {
    let fixture = ApiFixture::open().await.running();
    let workers = Workers::default();
    serve_probes(&fixture.gateway, &workers);
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(Level::INFO).with_writer(move || writer.clone());
    let logging = tracing::subscriber::set_default(subscriber.finish());
    let tested = fixture.post("/carriers/acme/test", json!({"to": "+4915112345678"})).await;
    assert_eq!(tested.status, 200, "{}", tested.text);
    drop(logging);
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("Tested by the operator"), "{logged}");
    assert!(!logged.contains("4915112345678"), "a phone number is in the log: {logged}");
    assert_eq!((&tested.body["step"], &tested.body["accepted"]), (&json!("connect"), &json!(false)));
    assert!(!tested.body["lines"].as_array().unwrap().is_empty(), "{}", tested.text);
    for (body, expect) in [
        (json!({"to": "0151"}), "400 INVALID_FIELD: number: "),
        (json!({"to": "+4915112345678", "from": "!"}), "400 INVALID_FIELD: from: "),
        (json!({"to": "+4915112345678", "text": ""}), "400 INVALID_FIELD: text: "),
        (
            json!({"to": "+4915112345678", "wait": "1h"}),
            "400 INVALID_FIELD: wait: \"1h\" is not a time of at most 10m",
        ),
        (json!({"from": "Shop"}), "400 INVALID_JSON: "),
    ] {
        let told = fixture.post("/carriers/acme/test", body).await.status_and_error();
        assert!(told.starts_with(expect), "{told}");
    }
    assert_eq!(fixture.post("/carriers/x/test", json!({"to": "+4915112345678"})).await.status, 404);
    workers.stop().await;
}

#[tokio::test]
async fn parked_receipts_are_listed_with_their_status() {
    let fixture = ApiFixture::open().await;
    let gateway = &fixture.gateway;
    let link = gateway
        .store
        .open_link(acme(&fixture), LinkNumber(1), LinkKind::Sends, IdConversion::None)
        .await
        .unwrap();
    let receipt = |sequence, id: &str, word: Option<&str>| ReceiptRecord {
        sequence,
        remote: Some(RemoteId::from_text(id).unwrap()),
        verdict: if word.is_some() { DeliveryOutcome::NoChange } else { DeliveryOutcome::Delivered },
        err: 0,
        word: word.map(Box::from),
        words: ReceiptWords::default(),
        source: None,
        sender: None,
    };
    let receipts = vec![receipt(1, "9308878062554710043", None), receipt(2, "27", Some("MAYBE"))];
    link.record(Vec::new(), receipts, Vec::new(), 0, gateway.clock.now()).await.unwrap();
    link.handout().await;
    let body = fixture.get("/carriers/acme/receipts").await.body;
    assert_eq!((&body["ids"], &body["hint"], &body["given_up"]), (&json!("none"), &Value::Null, &json!(0)));
    assert_eq!(body["answers"], json!([]));
    let mut told: Vec<String> = body["parked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["id"].as_str().unwrap(), one["says"].as_str().unwrap()))
        .collect();
    told.sort();
    assert_eq!(told, ["27 MAYBE", "9308878062554710043 delivered"]);
    let first = fixture.get("/carriers/acme/receipts?limit=1").await.body;
    assert_eq!(first["parked"].as_array().map(Vec::len), Some(1));
    assert_eq!(fixture.get("/carriers/acme/receipts?limit=0").await.status, 400);
    assert_eq!(fixture.get("/carriers/x/receipts").await.status, 404);
}

#[tokio::test]
async fn delivery_stats_query_has_defaults_and_bounds() {
    let fixture = ApiFixture::open().await;
    let none = fixture.get("/deliveries").await.body;
    assert_eq!(none, json!({"from": "2026-06-09", "to": "2026-06-15", "items": []}));
    assert_eq!(fixture.get("/deliveries?days=1&carrier=acme&by=carrier").await.body["from"], "2026-06-15");
    for (query, status) in
        [("days=0", 400), ("days=367", 400), ("by=operator", 400), ("carrier=x", 404), ("day=1", 400)]
    {
        assert_eq!(fixture.get(&format!("/deliveries?{query}")).await.status, status, "{query}");
    }
}

#[tokio::test]
async fn request_about_links_without_a_running_gateway_gets_not_running() {
    let fixture = ApiFixture::open().await;
    for (method, path) in [
        ("GET", "/links"),
        ("GET", "/alarms"),
        ("DELETE", "/alarms"),
        ("POST", "/carriers/acme/resume"),
        ("GET", "/carriers/acme/trace"),
        ("DELETE", "/carriers/acme/trace"),
    ] {
        let reply = fixture.call(method, path, "", "").await;
        assert_eq!(
            reply.status_and_error(),
            "409 NOT_RUNNING: this needs a running gateway: start it with hermod serve",
            "{method} {path}"
        );
    }
}

/// Captures the log of this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
