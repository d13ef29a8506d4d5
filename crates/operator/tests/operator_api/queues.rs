//! Queues over the operator API: list, hold, release, cancel.

use crate::fixture::{ApiFixture, SETUP};
use serde_json::{Value, json};

const TO: &str = "+4915112345678";

async fn send(fixture: &ApiFixture, to: &str, text: &str) -> String {
    let (status, body) = fixture.submit(to, text, &[]).await;
    assert_eq!(status, 202, "{body}");
    body["message_id"].as_str().unwrap().to_owned()
}

async fn balance(fixture: &ApiFixture) -> Value {
    fixture.get("/accounts/shop/balance").await.body["balance"].clone()
}

/// Changes the queues, and returns how many messages were done and left.
async fn change(fixture: &ApiFixture, body: Value) -> (u64, u64) {
    let reply = fixture.post("/queues", body.clone()).await;
    assert_eq!(reply.status, 200, "{body}: {}", reply.text);
    let count = |field: &str| reply.body[field].as_u64().unwrap();
    (count("done"), count("left"))
}

/// Returns the queues as `acme 2, (held) 1`.
async fn queues(fixture: &ApiFixture) -> String {
    let reply = fixture.get("/queues").await;
    let items = reply.body["items"].as_array().unwrap().iter();
    let items =
        items.map(|item| format!("{} {}", item["carrier"].as_str().unwrap(), item["queue"]["waiting"]));
    items.collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn conditions_choose_the_messages_that_are_held_released_and_cancelled() {
    let fixture = ApiFixture::open().await;
    let first = send(&fixture, TO, "Your code is 1234").await;
    send(&fixture, TO, "Sale ends today").await;
    send(&fixture, "+4917012345678", "Sale ends today").await;
    assert_eq!(queues(&fixture).await, "acme 3");
    let hold = |conditions: Value| json!({"action": "hold", "conditions": conditions, "dry_run": true});
    for (conditions, expect) in [
        (json!({"all": true}), 3),
        (json!({"account": "shop", "carrier": "acme", "sender": "Shop"}), 3),
        (json!({"prefix": "+49170"}), 1),
        (json!({"prefix": "4915", "text": "Sale"}), 1),
        (json!({"text": "sale"}), 0),
        (json!({"ids": [first]}), 1),
        (json!({"sender": "Other"}), 0),
    ] {
        assert_eq!(change(&fixture, hold(conditions.clone())).await, (expect, 0), "{conditions}");
    }
    assert_eq!(queues(&fixture).await, "acme 3", "a dry run changes nothing");

    let sale = json!({"action": "hold", "conditions": {"text": "Sale"}, "reason": "fraud?"});
    assert_eq!(change(&fixture, sale.clone()).await, (2, 0));
    assert_eq!(change(&fixture, sale).await, (0, 0), "they are held already");
    assert_eq!(queues(&fixture).await, "acme 1, (held) 2");
    let release = json!({"action": "release", "conditions": {"prefix": "49170"}});
    assert_eq!(change(&fixture, release).await, (1, 0));
    assert_eq!(queues(&fixture).await, "acme 2, (held) 1");

    let cancel = json!({"action": "cancel", "conditions": {"account": "shop"}});
    assert_eq!(balance(&fixture).await, json!(9.85));
    assert_eq!(change(&fixture, cancel.clone()).await, (3, 0), "what waits and what is held");
    assert_eq!(balance(&fixture).await, json!(10));
    assert_eq!(change(&fixture, cancel).await, (0, 0), "a second time refunds nothing");
    assert_eq!(balance(&fixture).await, json!(10));
    assert_eq!(queues(&fixture).await, "acme 0, (held) 0");
}

#[tokio::test]
async fn held_message_is_released_only_to_a_carrier_that_leaves_the_margin_of_its_charge() {
    let cost = "[[cost]]\ncarrier = \"acme\"\nprefix = \"49\"\nper_part = \"0.04\"\ncurrency = \"EUR\"\n";
    let setup = SETUP.replace("carriers = [\"acme\"]\n", "carriers = [\"acme\"]\nmin_margin = \"0\"\n");
    let fixture = ApiFixture::open_with(&(setup + cost)).await;
    send(&fixture, TO, "hello").await;
    let all = |action: &str| json!({"action": action, "conditions": {"all": true}});
    assert_eq!(change(&fixture, all("hold")).await, (1, 0));
    for (path, per_part, expect) in [
        ("/costs/acme/49", "0.050001", (0, 1)),
        // It was charged before.
        ("/prices/*", "0.1", (0, 1)),
        ("/costs/acme/49", "0.05", (1, 0)),
    ] {
        let changed = fixture.patch(path, json!({"per_part": per_part})).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(change(&fixture, all("release")).await, expect, "{path} {per_part}");
    }
    assert_eq!(queues(&fixture).await, "acme 1, (held) 0");
}

#[tokio::test]
async fn long_queue_is_changed_request_by_request() {
    let fixture = ApiFixture::open().await;
    for _ in 0..7 {
        send(&fixture, TO, "hello").await;
    }
    let mut request = json!({"action": "cancel", "conditions": {"all": true}, "limit": 3});
    let mut done = Vec::new();
    loop {
        let reply = fixture.post("/queues", request.clone()).await;
        done.push(reply.body["done"].as_u64().unwrap());
        request["after"] = reply.body["next"].clone();
        if request["after"].is_null() {
            break;
        }
    }
    assert_eq!(done.iter().sum::<u64>(), 7, "{done:?}");
    assert!(done.len() > 2, "{done:?}");
    let log = fixture.get("/audit-log").await;
    assert_eq!(log.text.matches("queue.cancel").count(), done.len(), "one entry per request: {}", log.text);
}

#[tokio::test]
async fn audit_log_has_the_reason_and_neither_text_nor_number() {
    let fixture = ApiFixture::open().await;
    send(&fixture, TO, "My secret words").await;
    let conditions = json!({"text": "secret words", "prefix": TO});
    let request = json!({"action": "hold", "conditions": conditions, "reason": "unpaid invoice"});
    assert_eq!(change(&fixture, request).await, (1, 0));
    let with_ids = json!({"action": "hold", "conditions": {"ids": ["15506713804701696"]}, "after": "1.1.15506713804701696"});
    assert_eq!(fixture.post("/queues", with_ids).await.status, 400, "it would be looked at twice");
    let of_account = fixture.get("/audit-log?account=shop").await;
    assert!(!of_account.text.contains("queue.hold"), "the customer does not see it: {}", of_account.text);
    let log = fixture.get("/audit-log").await;
    assert!(log.text.contains("queue.hold") && log.text.contains("unpaid invoice"), "{}", log.text);
    assert!(!log.text.contains("secret words") && !log.text.contains("15112345678"), "{}", log.text);
}

#[tokio::test]
async fn wrong_conditions_are_rejected_and_change_nothing() {
    let fixture = ApiFixture::open().await;
    send(&fixture, TO, "hello").await;
    for (conditions, status, expect) in [
        (json!({}), 400, "must name at least one"),
        (json!({"account": "nobody"}), 404, "there is no account"),
        (json!({"carrier": "nobody"}), 404, "there is no carrier"),
        (json!({"prefix": "0049"}), 400, "digits with the country code"),
        (json!({"prefix": ""}), 400, "digits with the country code"),
        (json!({"text": ""}), 400, "1 to 160 characters"),
        (json!({"ids": ["+4915112345678"]}), 400, "must be ids of messages"),
        (json!({"colour": "red"}), 400, "colour"),
        (json!(["shop"]), 400, "expected a map"),
    ] {
        let body = json!({"action": "cancel", "conditions": conditions});
        let reply = fixture.post("/queues", body).await;
        assert_eq!(reply.status, status, "{conditions}: {}", reply.text);
        assert!(reply.error().contains(expect), "{conditions}: {}", reply.text);
    }
    let log = fixture.get("/audit-log").await;
    assert!(!log.text.contains("15112345678") && !log.text.contains("queue.cancel"), "{}", log.text);
    for more in [json!({"after": "x"}), json!({"limit": 0}), json!({"limit": 5001}), json!({"reason": ""})] {
        let mut body = json!({"action": "cancel", "conditions": {"all": true}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(fixture.post("/queues", body).await.status, 400, "{more}");
    }
    assert_eq!(queues(&fixture).await, "acme 1");
}

#[tokio::test]
async fn every_queue_is_looked_at_when_a_limit_ends_between_two_accounts() {
    let more = "[[carrier]]\nname = \"beta\"\naddress = \"127.0.0.1:2\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n\
        [[route]]\nprefix = \"44\"\ncarriers = [\"beta\"]\n";
    let setup = SETUP.replace("countries = [\"DE\"]", "countries = [\"DE\", \"GB\"]");
    let fixture = ApiFixture::open_with(&format!("{setup}{more}")).await;
    send(&fixture, TO, "by acme").await;
    send(&fixture, "+447700900123", "by beta").await;
    assert_eq!(queues(&fixture).await, "acme 1, beta 1");
    let mut request = json!({"action": "cancel", "conditions": {"account": "shop"}, "limit": 1});
    let mut done = 0;
    loop {
        let reply = fixture.post("/queues", request.clone()).await;
        done += reply.body["done"].as_u64().unwrap();
        request["after"] = reply.body["next"].clone();
        if request["after"].is_null() {
            break;
        }
    }
    assert_eq!((done, queues(&fixture).await.as_str()), (2, "acme 0, beta 0"));
}

#[tokio::test]
async fn change_of_a_route_offers_to_move_what_waits_for_another_carrier() {
    let fixture = ApiFixture::open().await;
    let warnings = |reply: &Value| reply["warnings"].as_array().cloned().unwrap_or_default();
    let beta = "[[carrier]]\nname = \"beta\"\naddress = \"127.0.0.1:1\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 5\nrate = 7\n";
    assert_eq!(fixture.apply("/apply", beta).await.status, 200);
    fixture.patch("/accounts/shop", json!({"countries": ["DE", "AT"]})).await;
    for _ in 0..3 {
        send(&fixture, TO, "hello").await;
    }
    send(&fixture, "+4366012345678", "hello").await;
    let other = fixture.put("/routes/33", json!({"carriers": ["beta"]})).await;
    assert_eq!(warnings(&other.body), [] as [Value; 0], "{}", other.text);

    let offer = |count: &str| {
        json!([format!(
            "{count} for carrier acme, and the routes choose another one since this change: hermod queue reroute --carrier acme \
             moves what waits"
        )])
    };
    let specific = fixture.put("/routes/49", json!({"carriers": ["beta"]})).await;
    assert_eq!(json!(warnings(&specific.body)), offer("3 messages wait"), "{}", specific.text);
    let again = fixture.patch("/routes/49", json!({"fail_over_refusals": true})).await;
    assert_eq!(warnings(&again.body), [] as [Value; 0], "they were offered before");
    let general = "[[route]]\nprefix = \"*\"\ncarriers = [\"beta\", \"acme\"]\n";
    let applied = fixture.apply("/apply", general).await;
    assert_eq!(json!(warnings(&applied.body)), offer("1 message waits"), "{}", applied.text);
    assert_eq!(queues(&fixture).await, "acme 4", "nothing moves by itself");
    let reroute = json!({"action": "reroute", "conditions": {"carrier": "acme"}});
    assert_eq!(change(&fixture, reroute).await, (4, 0));
}
