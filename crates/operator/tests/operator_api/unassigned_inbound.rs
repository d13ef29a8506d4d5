//! Unassigned MO messages and their assignment by the operator.

use crate::fixture::ApiFixture;
use hermod_domain::carrier::IdConversion;
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::origin::SmppAddress;
use hermod_store::{LinkKind, LinkNumber, MoRecord};
use serde_json::json;

/// Receives an MO message to a number that no account owns.
async fn receive_mo(fixture: &ApiFixture, text: &str) {
    let gateway = &fixture.gateway;
    let acme = gateway.catalogue().carriers()[0].0;
    let link = gateway
        .store
        .open_link(acme, LinkNumber(1), LinkKind::ReceivesOnly, IdConversion::None)
        .await
        .unwrap();
    let part = InboundPart {
        source: SmppAddress::new(1, 1, b"4915112345678"),
        destination: SmppAddress::new(3, 0, b"80800"),
        concat: None,
        reference: None,
        segment: MoSegment {
            data_coding: 0,
            alphabet: Alphabet::Gsm,
            header: Box::default(),
            octets: text.as_bytes().into(),
        },
    };
    let record = MoRecord { sequence: 1, part };
    link.record(vec![], vec![], vec![record], 0, gateway.clock.now()).await.unwrap();
    assert_eq!(link.handout().await.received, [1]);
}

#[tokio::test]
async fn unassigned_messages_are_listed_in_pages_and_assigned_once() {
    let fixture = ApiFixture::open().await;
    assert_eq!(fixture.get("/inbound/unassigned").await.body, json!({"items": [], "next": null}));
    receive_mo(&fixture, "hello").await;
    receive_mo(&fixture, "stop").await;
    let page = fixture.get("/inbound/unassigned?limit=1").await.body;
    let first = &page["items"][0];
    let shown = (&first["carrier"], &first["from"], &first["to"], &first["text"]);
    assert_eq!(shown, (&json!("acme"), &json!("+4915112345678"), &json!("80800"), &json!("hello")));
    assert_eq!(page["next"], first["message_id"]);
    let next = page["next"].as_str().unwrap();
    let rest = fixture.get(&format!("/inbound/unassigned?after={next}")).await.body;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &json!(null)));
    let second = rest["items"][0]["message_id"].as_str().unwrap();

    let path = format!("/inbound/unassigned/{second}/assign");
    assert_eq!(
        fixture.post(&path, json!({"account": "nobody"})).await.status_and_error(),
        "404 NOT_FOUND: there is no account \"nobody\""
    );
    let given = fixture.post(&path, json!({"account": "shop"})).await;
    assert_eq!(given.status, 200, "{}", given.body);
    assert_eq!(given.body, json!({"message_id": second, "account": "shop", "id": 1}));
    let again = fixture.post(&path, json!({"account": "shop"})).await.status_and_error();
    assert_eq!(again, format!("404 NOT_FOUND: there is no unassigned message {second}"));
    let opted_out = fixture.get("/accounts/shop/opt-outs").await.body;
    assert_eq!(opted_out["items"][0]["source"], "keyword", "{opted_out}");
    assert_eq!(
        opted_out["items"][0]["number"], "+4915112345678",
        "the opt-out keyword is applied on assignment"
    );
    assert_eq!(fixture.get("/inbound/unassigned").await.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn invalid_cursor_limit_id_or_body_is_rejected() {
    let fixture = ApiFixture::open().await;
    assert_eq!(fixture.get("/inbound/unassigned?after=x").await.status, 400);
    assert_eq!(fixture.get("/inbound/unassigned?limit=0").await.status, 400);
    assert_eq!(fixture.post("/inbound/unassigned/x/assign", json!({"account": "shop"})).await.status, 404);
    assert_eq!(fixture.post("/inbound/unassigned/15526526976000001/assign", json!({})).await.status, 400);
}
