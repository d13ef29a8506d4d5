//! `GET /binds` and unbinding by the operator.

use crate::fixture::ApiFixture;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_gateway::live_status::{LiveBind, NewBind, Order};
use hermod_smpp::BindType;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::time::Duration;

fn enter(fixture: &ApiFixture, system_id: &str, kind: BindType) -> LiveBind {
    let account = fixture.gateway.catalogue().accounts().next().map_or(AccountId::new(1), |(id, _)| id);
    let new = NewBind {
        connection: ConnectionId::new(1),
        account,
        system_id: system_id.into(),
        kind,
        is_3_4: kind == BindType::Transceiver,
        peer: IpAddr::from([192, 0, 2, 7]),
        tls: true,
        window: 10,
        address_range: "^49".to_owned(),
        now: fixture.gateway.clock.now(),
    };
    fixture.gateway.binds.enter(new, 10).expect("there is room")
}

#[tokio::test]
async fn bind_view_has_its_properties_and_counts() {
    let fixture = ApiFixture::open().await.running();
    assert_eq!(fixture.get("/binds").await.body["items"], json!([]));
    let bind = enter(&fixture, "shop", BindType::Transceiver);
    let other = enter(&fixture, "bakery", BindType::Receiver);
    bind.submitted(30, fixture.gateway.clock.moment());
    bind.refused(2);
    bind.receipts(5);
    bind.set_window_in(3);
    bind.set_window_out(1);
    bind.failed("0x0B from a carrier".to_owned(), fixture.gateway.clock.now());
    fixture.gateway.clock.advance(Duration::from_secs(10));
    let body = fixture.get("/binds").await.body;
    let seen = &body["items"][0];
    assert_eq!(
        (&seen["system_id"], &seen["type"], &seen["version"], &seen["tls"], &seen["address"]),
        (&json!("shop"), &json!("transceiver"), &json!("3.4"), &json!(true), &json!("192.0.2.7"))
    );
    assert_eq!((&seen["for_s"], &seen["address_range"]), (&json!(10), &json!("^49")));
    assert_eq!(
        (&seen["window"], &seen["window_in"], &seen["window_out"], &seen["receipts_waiting"]),
        (&json!(10), &json!(3), &json!(1), &json!(0))
    );
    assert_eq!(
        (&seen["submits"], &seen["refused"], &seen["receipts"], &seen["submits_per_second"]),
        (&json!(30), &json!(2), &json!(5), &json!(3.0))
    );
    assert_eq!(seen["last_error"]["text"], "0x0B from a carrier");
    let last = &body["items"][1];
    assert_eq!((&last["version"], &last["last_error"]), (&json!("3.3"), &Value::Null));
    let only = fixture.get("/binds?system_id=bakery").await.body;
    assert_eq!(only["items"].as_array().unwrap().len(), 1);
    assert_eq!(only["items"][0]["number"], other.number);
    assert_eq!(fixture.get("/binds?account=nobody").await.status, 404);
    assert_eq!(fixture.get("/binds?port=1").await.status, 400);
}

#[tokio::test]
async fn unbind_request_unbinds_the_bind() {
    let fixture = ApiFixture::open().await.running();
    let bind = enter(&fixture, "shop", BindType::Transceiver);
    let reply = fixture.post(&format!("/binds/{}/unbind", bind.number), json!({})).await;
    assert_eq!((reply.status, &reply.body), (200, &json!({"bind": bind.number})));
    assert_eq!(bind.ordered().await, Order::Unbind);
    for nobody in ["0", "99", "x"] {
        assert_eq!(fixture.post(&format!("/binds/{nobody}/unbind"), json!({})).await.status, 404);
    }
}

#[tokio::test]
async fn change_of_a_connection_with_unbind_unbinds_its_binds() {
    let fixture = ApiFixture::open().await.running();
    let bind = enter(&fixture, "shop", BindType::Transceiver);
    let kept = fixture.patch("/connections/shop-http", json!({"rate": 20})).await;
    assert_eq!(kept.status, 200);
    let reply = fixture.patch("/connections/shop-http?unbind=false", json!({"rate": 21})).await;
    assert_eq!(reply.status, 200);
    bind.order(Order::Probe);
    assert_eq!(bind.ordered().await, Order::Probe, "the bind is not unbound");
    let reply = fixture.patch("/connections/shop-http?unbind=true", json!({"rate": 30})).await;
    assert_eq!((reply.status, &reply.body["entry"]["rate"]), (200, &json!(30)));
    assert_eq!(bind.ordered().await, Order::Unbind);
    for (path, field) in
        [("/accounts/shop?unbind=true", "unbind"), ("/connections/shop-http?unbnd=true", "unbnd")]
    {
        let reply = fixture.patch(path, json!({})).await;
        assert_eq!(reply.status, 400, "{path}");
        assert!(reply.body["error"].as_str().unwrap().contains(field), "{}", reply.body);
    }
}

#[tokio::test]
async fn given_up_reports_are_listed() {
    let fixture = ApiFixture::open().await;
    assert_eq!(fixture.get("/reports/given-up").await.body, json!({"items": [], "next": null}));
    assert_eq!(fixture.get("/reports/given-up?account=nobody").await.status, 404);
    assert_eq!(fixture.get("/reports/given-up?limit=0").await.status, 400);
}
