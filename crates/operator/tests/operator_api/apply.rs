//! `POST /apply`: provision files, repeated and as dry runs.

use crate::fixture::{ApiFixture, SETUP};
use hermod_operator::setup::file_entries::EXAMPLE_TOML;
use serde_json::json;

#[tokio::test]
async fn file_can_be_applied_repeatedly() {
    let fixture = ApiFixture::open().await;
    let again = fixture.apply("/apply", SETUP).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert!(again.changes().split(", ").all(|change| change.starts_with("same ")), "{}", again.text);
    assert_eq!(
        fixture.get("/accounts/shop/balance").await.body["balance"],
        json!(10),
        "the opening balance is posted once"
    );
}

#[tokio::test]
async fn dry_run_returns_the_changes_and_applies_none() {
    let fixture = ApiFixture::open().await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    let text = SETUP
        .replace("verified = true", "verified = false")
        .replace("secret = \"shop-secret-text-of-many-characters\"\n", "")
        + "[[key]]\nkey = \"new\"\nconnection = \"shop-http\"\n";
    let told = fixture.apply("/apply?dry_run=true", &text).await;
    assert_eq!(told.status, 200, "{}", told.text);
    assert_eq!(told.body["dry_run"], json!(true));
    assert_eq!(told.body["secrets"], json!([]));
    let changed: Vec<_> =
        told.body["changes"].as_array().unwrap().iter().filter(|change| change["effect"] != "same").collect();
    assert_eq!(
        json!(changed),
        json!([
            {"kind": "account", "name": "shop", "effect": "updated",
             "fields": [{"field": "verified", "before": true, "after": false}], "left": []},
            {"kind": "key", "name": "new", "effect": "created", "fields": [], "left": []},
        ])
    );
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
    let done = fixture.apply("/apply?dry_run=false", &text).await;
    assert_eq!(done.body["secrets"][0]["key"], "new");
    assert_ne!(fixture.gateway.store.setup().rows().await.unwrap(), before);
}

#[tokio::test]
async fn example_file_can_be_applied_in_toml_and_json() {
    let fixture = ApiFixture::open().await;
    let done = fixture.apply("/apply", EXAMPLE_TOML).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let said = fixture
        .post("/apply", json!({"sender": [{"account": "shop", "sender": "Shop24", "state": "approved"}], "remove": [{"kind": "screen", "name": "short-links"}]}))
        .await;
    assert_eq!(said.changes(), "updated sender shop/Shop24, removed screen short-links");
}

#[tokio::test]
async fn invalid_file_is_rejected_with_its_line() {
    let fixture = ApiFixture::open().await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    for (text, expect) in [
        ("[[account]\n", "400 INVALID_TOML: file:1: "),
        (
            "[[account]]\nname = \"a b\"\n",
            "400 INVALID_TOML: file:2: account 1.name: a name has 1 to 64 letters",
        ),
        ("[[acount]]\n", "400 INVALID_TOML: file:1: acount: unknown field `acount`"),
        (
            "[[account]]\nname = \"ok\"\ncurrency = \"EUR\"\n[[remove]]\nkind = \"account\"\nname = \"shop\"\n",
            "422 NOT_REMOVABLE: account \"shop\" cannot be removed",
        ),
    ] {
        let told = fixture.apply("/apply", text).await.status_and_error();
        assert!(told.starts_with(expect), "{told}");
    }
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
}

#[tokio::test]
async fn file_keeps_changes_made_by_the_api_unless_forced() {
    let fixture = ApiFixture::open().await;
    fixture.patch("/accounts/shop", json!({"verified": false})).await;
    let again = fixture.apply("/apply", SETUP).await;
    let changes = again.body["changes"].as_array().unwrap();
    let shop = changes.iter().find(|change| change["name"] == "shop").unwrap();
    assert_eq!(shop["effect"], "same");
    assert_eq!(shop["left"], json!([{"field": "verified", "stored": false, "file": true}]));
    assert_eq!(fixture.get("/accounts/shop").await.body["entry"]["verified"], json!(false));
    let forced = fixture.apply("/apply?force=true", SETUP).await;
    assert!(forced.changes().contains("updated account shop"), "{}", forced.text);
    assert_eq!(fixture.get("/accounts/shop").await.body["entry"]["verified"], json!(true));
}
