//! A held gateway over the operator API: what it would send, cancelling it, releasing it.

use crate::fixture::ApiFixture;
use hermod_domain::hold::Hold;
use hermod_domain::time::Timestamp;
use hermod_operator::restore;
use serde_json::{Value, json};
use std::time::Duration;

const TO: &str = "+4915112345678";
const SECOND: Duration = Duration::from_secs(1);

async fn send(fixture: &ApiFixture) -> String {
    let (status, body) = fixture.submit(TO, "hello", &[]).await;
    assert_eq!(status, 202, "{body}");
    body["message_id"].as_str().unwrap().to_owned()
}

/// Holds the store as that of a backup which is complete now. The gateway of the fixture accepts messages as before.
async fn hold(fixture: &ApiFixture) {
    let hold = Hold::of_backup(fixture.gateway.clock.now());
    fixture.gateway.store.setup().set_hold(Some(&hold)).await.unwrap();
}

async fn cancel(fixture: &ApiFixture, body: Value) -> Value {
    let reply = fixture.post("/restore/cancel", body.clone()).await;
    assert_eq!(reply.status, 200, "{body}: {}", reply.text);
    reply.body
}

#[tokio::test]
async fn what_waited_in_a_backup_is_shown_cancelled_and_refunded_and_later_messages_stay() {
    let fixture = ApiFixture::open().await;
    let first = send(&fixture).await;
    fixture.gateway.clock.advance(SECOND);
    send(&fixture).await;
    hold(&fixture).await;
    fixture.gateway.clock.advance(SECOND);
    let last = send(&fixture).await;

    let shown = fixture.get("/restore").await.body;
    assert_eq!((&shown["held"], &shown["accepts_messages"]), (&json!(true), &json!(false)), "{shown}");
    assert_eq!(shown["backup_at"], json!("2026-06-15T12:00:01Z"), "{shown}");
    let row = &shown["waiting"][0];
    assert_eq!((&row["carrier"], &row["account"]), (&json!("acme"), &json!("shop")), "{shown}");
    assert_eq!(
        (&row["messages"], &row["parts"], &row["in_doubt"]),
        (&json!(3), &json!(3), &json!(0)),
        "{shown}"
    );
    assert_eq!((&row["oldest_id"], &row["newest_id"]), (&json!(first), &json!(last)), "{shown}");

    let result = |cancelled: u64, looked_at: u64| json!({"looked_at": looked_at, "cancelled": cancelled, "stopped": 0, "later": 1, "next": null});
    assert_eq!(cancel(&fixture, json!({"dry_run": true})).await, result(2, 3));
    assert_eq!(fixture.get("/accounts/shop/balance").await.body["balance"], json!(9.85));
    assert_eq!(cancel(&fixture, json!({"reason": "sent before"})).await, result(2, 3));
    assert_eq!(cancel(&fixture, json!({})).await, result(0, 1), "a second time cancels nothing more");
    assert_eq!(fixture.get("/accounts/shop/balance").await.body["balance"], json!(9.95));
    assert_eq!(
        fixture.get("/restore").await.body["held"],
        json!(true),
        "it is released by a request of its own"
    );
    let later = json!({"before": "2026-06-16"});
    assert_eq!(
        cancel(&fixture, later).await["cancelled"],
        json!(1),
        "up to the time that the operator names"
    );

    for released in [true, false] {
        let reply = fixture.post("/restore/release", json!({})).await;
        assert_eq!((reply.status, &reply.body["released"]), (200, &json!(released)), "{}", reply.text);
    }
    let shown = fixture.get("/restore").await.body;
    let none =
        json!({"held": false, "since": null, "backup_at": null, "accepts_messages": false, "waiting": []});
    assert_eq!(shown, none);
    let log = fixture.get("/audit-log").await.text;
    assert_eq!(log.matches("restore.release").count(), 1, "{log}");
    assert!(log.contains("restore.cancel") && log.contains("sent before"), "{log}");
}

#[tokio::test]
async fn long_queue_is_cancelled_request_by_request() {
    let fixture = ApiFixture::open().await;
    for _ in 0..7 {
        send(&fixture).await;
    }
    hold(&fixture).await;
    let mut request = json!({"limit": 3});
    let mut cancelled = Vec::new();
    loop {
        let view = cancel(&fixture, request.clone()).await;
        cancelled.push(view["cancelled"].as_u64().unwrap());
        if view["next"].is_null() {
            break;
        }
        request["after"] = view["next"].clone();
    }
    assert_eq!(cancelled, [3, 3, 1]);
    let log = fixture.get("/audit-log").await.text;
    assert_eq!(log.matches("restore.cancel").count(), 3, "one entry per request: {log}");
}

#[tokio::test]
async fn wrong_request_or_one_to_a_gateway_that_is_not_held_cancels_nothing() {
    let fixture = ApiFixture::open().await;
    send(&fixture).await;
    let refused = fixture.post("/restore/cancel", json!({})).await.status_and_error();
    assert!(refused.starts_with("400 INVALID_FIELD") && refused.contains("not held"), "{refused}");
    hold(&fixture).await;
    for body in [
        json!({"limit": 0}),
        json!({"limit": 5001}),
        json!({"after": "x"}),
        json!({"before": "yesterday"}),
        json!({"reason": ""}),
        json!({"account": "shop"}),
    ] {
        let reply = fixture.post("/restore/cancel", body.clone()).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.text);
    }
    assert_eq!(fixture.get("/restore").await.body["waiting"][0]["messages"], json!(1));
}

#[tokio::test]
async fn option_of_the_start_holds_a_store_once_and_another_lets_a_held_one_accept_messages() {
    let fixture = ApiFixture::open().await;
    let (store, now) = (&fixture.gateway.store, fixture.gateway.clock.now());
    let start = async |hold: bool, accepts_messages: bool, at: Timestamp| {
        restore::hold_before_start(store, hold, accepts_messages, at).await.unwrap();
        store.setup().hold().await.unwrap()
    };
    assert_eq!(start(false, false, now).await, None);
    assert_eq!(start(false, true, now).await, None, "there is no hold to change");
    let held = Hold::by_operator(now);
    assert_eq!(start(true, false, now).await, Some(held));
    assert_eq!(start(true, false, now.plus(SECOND)).await, Some(held), "the first hold stays");
    assert_eq!(start(false, false, now.plus(SECOND)).await, Some(held), "only a release ends it");
    let backup = Hold::of_backup(now);
    store.setup().set_hold(Some(&backup)).await.unwrap();
    let accepting = Hold { accepts_messages: true, ..backup };
    assert_eq!(start(true, true, now.plus(SECOND)).await, Some(accepting));
    assert_eq!(start(false, false, now.plus(SECOND)).await, Some(accepting));
    let log = fixture.get("/audit-log").await.text;
    assert_eq!(log.matches("restore.hold").count(), 2, "{log}");
}
