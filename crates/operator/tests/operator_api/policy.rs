//! Opt-outs, review cases, traffic and look-ups.

use crate::fixture::ApiFixture;
use hermod_domain::money::Money;
use hermod_store::Screened;
use serde_json::{Value, json};

#[tokio::test]
async fn opt_out_is_added_listed_and_removed() {
    let fixture = ApiFixture::open().await;
    let base = "/accounts/shop/opt-outs";
    let made = fixture.put(&format!("{base}/+4915112345678"), json!({"how": "called us"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(
        made.body,
        json!({"number": "+4915112345678", "source": "operator", "how": "called us", "at": "2026-06-15T12:00:00Z"})
    );
    let again = fixture.call("PUT", &format!("{base}/+4915112345678"), "", "").await;
    assert_eq!(again.status, 200, "{}", again.text);
    let listed = json!({"how": "from the old gateway", "imported": true});
    let imported = fixture.put(&format!("{base}/+4915112345679"), listed).await;
    assert_eq!(imported.body["source"], "import", "{}", imported.text);
    let first = fixture.get(&format!("{base}?limit=1")).await.body;
    assert_eq!(first["next"], "+4915112345678");
    let rest = fixture.get(&format!("{base}?limit=5&after=%2B4915112345678")).await.body;
    assert_eq!((rest["items"][0]["number"].as_str(), &rest["next"]), (Some("+4915112345679"), &Value::Null));
    assert_eq!(
        fixture.get(&format!("{base}?after=+4915112345678")).await.body["items"].as_array().unwrap().len(),
        1
    );

    assert_eq!(fixture.delete(&format!("{base}/+4915112345678")).await.status, 200);
    assert_eq!(
        fixture.delete(&format!("{base}/+4915112345678")).await.status_and_error(),
        "404 NOT_FOUND: +4915112345678 has not opted out of account \"shop\""
    );
    let bad = fixture.call("PUT", &format!("{base}/4915112345678"), "", "").await;
    assert!(
        bad.status_and_error().starts_with("400 INVALID_FIELD: number: \"4915112345678\": "),
        "{}",
        bad.status_and_error()
    );
}

#[tokio::test]
async fn review_case_is_returned_and_decided() {
    let fixture = ApiFixture::open().await;
    let screened = Screened {
        account: fixture.account("shop"),
        from: "Shop".parse().unwrap(),
        to: "+4915112345678".parse().unwrap(),
        text: "look at http://x.example".to_owned(),
        digest: [7; 16],
        rules: vec!["links".to_owned()],
        now: fixture.gateway.clock.now(),
    };
    fixture.gateway.store.reviews().screen(screened).await.unwrap();
    let open = fixture.get("/reviews?state=open").await.body;
    let id = open["items"][0]["id"].clone();
    let case = fixture.get(&format!("/reviews/{id}")).await.body;
    assert_eq!(case, open["items"][0]);
    assert_eq!(
        (&case["account"], &case["from"], &case["text"], &case["rules"], &case["state"], &case["decided_at"]),
        (
            &json!("shop"),
            &json!("Shop"),
            &json!("look at http://x.example"),
            &json!(["links"]),
            &json!("open"),
            &Value::Null
        )
    );
    let approved = fixture.post(&format!("/reviews/{id}/approve"), json!({"by": "ann"})).await;
    assert_eq!((&approved.body["state"], &approved.body["decided_by"]), (&json!("approved"), &json!("ann")));
    assert_eq!(fixture.get("/reviews?state=open").await.body["items"], json!([]));
    let rejected = fixture.post(&format!("/reviews/{id}/reject"), json!({"by": "bob"})).await;
    assert_eq!(rejected.body["state"], "rejected", "the last decision counts");
    assert_eq!(
        fixture.get("/reviews/999").await.status_and_error(),
        "404 NOT_FOUND: there is no review case 999"
    );
    assert_eq!(fixture.post("/reviews/999/approve", json!({"by": "ann"})).await.status, 404);
    assert_eq!(fixture.get("/reviews/x").await.status, 404);
    assert_eq!(fixture.post(&format!("/reviews/{id}/approve"), json!({})).await.status, 400);
    assert_eq!(
        fixture.get("/reviews?state=lost").await.status_and_error(),
        "400 INVALID_FIELD: state: \"lost\" is none of open, approved and rejected"
    );
}

#[tokio::test]
async fn account_traffic_has_its_controls() {
    let fixture = ApiFixture::open().await;
    fixture.put("/controls/day", json!({"account": "shop", "spend_per_day": "5"})).await;
    fixture.put("/controls/range", json!({"mode": "watch", "per_range": {"most": 3, "per": "10m"}})).await;
    let name = "range".into();
    fixture.gateway.watched.count(fixture.account("shop"), &name);
    let traffic = fixture.get("/accounts/shop/traffic").await.body;
    assert_eq!(
        traffic,
        json!({"day": "2026-06-15", "messages": 0, "spend": 0, "controls": [
            {"name": "day", "mode": "enforce", "spend_per_day": 5, "would_have_refused": 0},
            {"name": "range", "mode": "watch", "per_range": {"most": 3, "per": "10m"}, "would_have_refused": 1},
        ]})
    );
}

#[tokio::test]
async fn number_lookup_returns_country_route_and_price() {
    let fixture = ApiFixture::open().await;
    let plain = fixture.get("/lookup/+4915112345678").await;
    assert_eq!(plain.status, 200, "{}", plain.text);
    assert_eq!((&plain.body["country"], &plain.body["country_code"]), (&json!("Germany"), &json!("DE")));
    assert_eq!((&plain.body["route"], &plain.body["carrier"]), (&json!("*"), &json!("acme")));
    assert_eq!((&plain.body["per_part"], &plain.body["country_enabled"]), (&Value::Null, &Value::Null));
    let own = fixture.get("/lookup/+4915112345678?account=shop").await.body;
    assert_eq!(Money::parse(&own["per_part"].to_string()), Money::parse("0.05"));
    assert_eq!(own["country_enabled"], json!(true));
    assert_eq!((&own["currency"], &own["refusals"]), (&json!("EUR"), &json!([])), "{own}");
    assert!(own["price"].is_string(), "{own}");
    assert_eq!(fixture.get("/lookup/+33612345678?account=shop").await.body["country_enabled"], json!(false));
    assert_eq!(own["block"], Value::Null);
    fixture.put("/blocks/49151", json!({"direction": "sent"})).await;
    let blocked = fixture.get("/lookup/+4915112345678?account=shop").await.body;
    assert_eq!(blocked["block"], json!("49151"));
    let refusal = blocked["refusals"][0].as_str().unwrap();
    assert!(refusal.starts_with("DESTINATION_BLOCKED: "), "{refusal}");
    assert_eq!(fixture.get("/lookup/0151?account=shop").await.status, 400);
    assert_eq!(fixture.get("/lookup/+4915112345678?from=").await.status, 400);
    assert_eq!(fixture.get("/lookup/+4915112345678?account=x").await.status, 404);
}

#[tokio::test]
async fn suspension_has_a_reason_and_is_the_first_refusal_of_a_lookup() {
    let fixture = ApiFixture::open().await;
    let patch = async |reason: Value| {
        fixture.patch("/accounts/shop", json!({"suspended": reason, "verified": false})).await
    };
    let suspended = patch(json!("unpaid invoice")).await;
    assert_eq!(suspended.status, 200, "{}", suspended.text);
    assert_eq!(fixture.get("/accounts/shop").await.body["entry"]["suspended"], "unpaid invoice");
    let found = fixture.get("/lookup/+4915112345678?account=shop").await.body;
    let codes: Vec<&str> = found["refusals"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(codes[0].starts_with("ACCOUNT_SUSPENDED: "), "{codes:?}");
    assert!(codes[1].starts_with("VERIFICATION_REQUIRED: "), "{codes:?}");
    for reason in [json!(" "), json!("a\nb"), json!("x".repeat(201)), json!(true)] {
        let refused = patch(reason.clone()).await;
        assert!((400..500).contains(&refused.status), "{reason}: {}", refused.text);
    }
    assert_eq!(patch(Value::Null).await.status, 200);
    let resumed = fixture.get("/accounts/shop").await.body;
    assert!(resumed["entry"]["suspended"].is_null(), "{resumed}");
}

#[tokio::test]
async fn error_catalogue_is_served() {
    let fixture = ApiFixture::open().await;
    let rows = fixture.get("/errors").await.body;
    let rows = rows["items"].as_array().unwrap();
    let credit = rows.iter().find(|row| row["code"] == "INSUFFICIENT_CREDIT").unwrap();
    assert_eq!(
        (&credit["http"], &credit["smpp"], &credit["permanent"], &credit["charged"]),
        (&json!(402), &json!("0x00000045"), &json!(true), &json!(false))
    );
}
