//! Webhooks over the operator API: addresses, events, replay and secrets.

use crate::fixture::ApiFixture;
use serde_json::json;

const PATH: &str = "/accounts/shop/webhooks";

async fn fixture() -> ApiFixture {
    let fixture = ApiFixture::open().await;
    assert_eq!(fixture.get(PATH).await.body["dlr_webhook"], json!(null));
    let reply = fixture.patch("/accounts/shop", json!({"dlr_webhook": "https://shop.example/dlr"})).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.body["secrets"][0]["key"], "webhooks of shop");
    fixture
}

#[tokio::test]
async fn webhook_addresses_are_returned_and_secrets_are_not() {
    let fixture = fixture().await;
    let seen = fixture.get(PATH).await;
    assert_eq!(
        (&seen.body["dlr_webhook"], &seen.body["inbound_webhook"], &seen.body["secret_staged"]),
        (&json!("https://shop.example/dlr"), &json!(null), &json!(false))
    );
    let endpoints: Vec<_> =
        seen.body["endpoints"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(endpoints, ["dlr", "inbound"]);
    assert!(!seen.text.contains("sealed:"), "{}", seen.text);
    let account = fixture.get("/accounts/shop").await;
    assert!(!account.text.contains("secret"), "{}", account.text);
    let refused = fixture.patch("/accounts/shop", json!({"dlr_webhook": "https://10.0.0.1/"})).await;
    assert_eq!((refused.status, refused.header("x-error-code")), (422, Some("REFUSED")), "{}", refused.text);
    assert_eq!(fixture.get("/accounts/nobody/webhooks").await.status, 404);
}

#[tokio::test]
async fn webhook_secret_is_rotated_in_steps() {
    let fixture = fixture().await;
    let refused = fixture.post(&format!("{PATH}/secret/switch"), json!({})).await;
    assert_eq!(refused.header("x-error-code"), Some("REFUSED"), "{}", refused.text);
    let staged = fixture.post(&format!("{PATH}/secret/stage"), json!({})).await;
    assert_eq!(staged.body["secret"].as_str().map(str::len), Some(40), "{}", staged.text);
    let given =
        fixture.post(&format!("{PATH}/secret/stage"), json!({"secret": "a-secret-of-their-own"})).await;
    assert_eq!(given.body, json!({"secret": null}));
    for bad in ["short", "with spaces in between", "ümläute-sind-zu-viel"] {
        let refused = fixture.post(&format!("{PATH}/secret/stage"), json!({"secret": bad})).await;
        assert_eq!(refused.status, 400, "{bad}");
        assert!(!refused.text.contains(bad), "{}", refused.text);
    }
    assert_eq!(fixture.get(PATH).await.body["secret_staged"], json!(true));
    assert_eq!(fixture.post(&format!("{PATH}/secret/switch"), json!({})).await.status, 200);
    assert!(fixture.get(PATH).await.body["previous_secret_until"].is_string());
    assert_eq!(fixture.post(&format!("{PATH}/secret/drop"), json!({})).await.status, 200);
    assert_eq!(fixture.get(PATH).await.body["previous_secret_until"], json!(null));
}

#[tokio::test]
async fn webhook_events_are_listed_and_replaying_an_unknown_one_gets_404() {
    let fixture = fixture().await;
    assert_eq!(fixture.get(&format!("{PATH}/events")).await.body, json!({"items": [], "next": null}));
    for query in ["state=failed&kind=dlr", "before=7&limit=1", "kind=inbound"] {
        assert_eq!(fixture.get(&format!("{PATH}/events?{query}")).await.status, 200, "{query}");
    }
    for query in ["state=gone", "kind=sms", "before=x", "limit=0", "after=1"] {
        assert_eq!(fixture.get(&format!("{PATH}/events?{query}")).await.status, 400, "{query}");
    }
    for event in ["evt_1", "evt_01", "1", "evt_99999999999999999999"] {
        assert_eq!(fixture.get(&format!("{PATH}/events/{event}")).await.status, 404, "{event}");
        assert_eq!(fixture.post(&format!("{PATH}/events/{event}/replay"), json!({})).await.status, 404);
    }
    for body in [json!({"since": "2026-11-15"}), json!({}), json!({"kind": "dlr"})] {
        let replayed = fixture.post(&format!("{PATH}/replay"), body.clone()).await;
        assert_eq!((replayed.status, &replayed.body), (200, &json!({"replayed": 0, "retried": 0})), "{body}");
    }
    for body in [json!({"since": "yesterday"}), json!({"since": "2026-11-15", "kind": "sms"})] {
        assert_eq!(fixture.post(&format!("{PATH}/replay"), body.clone()).await.status, 400, "{body}");
    }
}
