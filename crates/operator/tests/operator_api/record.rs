//! The record over the operator API: searches, the timeline, statistics, requests, exports and the live feed.

use crate::fixture::ApiFixture;
use axum::body::Body;
use hermod_operator::message::history::show_message_of;
use hermod_store::record::{Replay, RequestEntry, RequestKind};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

const TO: &str = "+4915112345678";

/// Submits three messages of the account shop, the first with a key and a request id, and waits for the record.
async fn fixture() -> (ApiFixture, Vec<String>) {
    let fixture = ApiFixture::with_record().await;
    let headers = [("Idempotency-Key", "order-1"), ("X-Request-Id", "req-of-order-1")];
    let mut ids = Vec::new();
    for (to, text, headers) in
        [(TO, "Your code is 1234", &headers[..]), (TO, "hello", &[]), ("+4917012345678", "bye", &[])]
    {
        let (status, body) = fixture.submit(to, text, headers).await;
        assert_eq!(status, 202, "{body}");
        ids.push(body["message_id"].as_str().unwrap().to_owned());
    }
    fixture.gateway.store.record().flush().await.unwrap();
    (fixture, ids)
}

async fn found(fixture: &ApiFixture, query: &str) -> Vec<String> {
    let reply = fixture.get(&format!("/messages?{query}")).await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.text);
    assert_eq!(reply.body["record"]["catching_up"], 0, "{}", reply.text);
    let items = reply.body["items"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn messages_are_found_by_each_property_newest_first() {
    let (fixture, ids) = fixture().await;
    let [first, second, third] = [0, 1, 2].map(|place: usize| ids[place].clone());
    let all = vec![third.clone(), second.clone(), first.clone()];
    for (query, expect) in [
        ("", all.clone()),
        ("account=shop&from=Shop&country=DE&state=queued&carrier=acme&connection=shop-http", all.clone()),
        ("to=%2B4915112345678", vec![second.clone(), first.clone()]),
        ("to=%2B4915*", vec![second.clone(), first.clone()]),
        ("to=4917*", vec![third.clone()]),
        ("to=*345678", all.clone()),
        ("to=*112345678&account=shop", vec![second.clone(), first.clone()]),
        ("account=shop&key=order-1", vec![first.clone()]),
        ("request=req-of-order-1", vec![first.clone()]),
        ("state=delivered", vec![]),
        ("since=1h", all.clone()),
        ("until=1h", vec![]),
    ] {
        assert_eq!(found(&fixture, query).await, expect, "{query}");
    }
    let page = fixture.get("/messages?limit=2").await.body;
    assert_eq!(page["next"], json!(second));
    assert_eq!(found(&fixture, &format!("limit=2&cursor={second}")).await, std::slice::from_ref(&first));
    let count = fixture.get("/messages/count?account=shop").await.body;
    assert_eq!((&count["count"], &count["exact"]), (&json!(3), &json!(true)));
    let text = fixture.get("/messages/text?account=shop&text=CODE").await.body;
    assert_eq!((&text["items"][0]["id"], &text["next"]), (&json!(first), &Value::Null), "{text}");
    assert_eq!(text["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn timeline_begins_with_the_acceptance() {
    let (fixture, ids) = fixture().await;
    let message = fixture.get(&format!("/messages/{}", ids[0])).await.body;
    for (field, expect) in [
        ("account", json!("shop")),
        ("connection", json!("shop-http")),
        ("carrier", json!("acme")),
        ("to", json!(TO)),
        ("currency", json!("EUR")),
        ("request", json!("req-of-order-1")),
        ("route", json!("*")),
        ("choice", json!("only")),
        ("parts", json!(1)),
    ] {
        assert_eq!(message[field], expect, "{field} of {message}");
    }
    let accepted = &message["timeline"][0];
    assert_eq!((&accepted["step"], &accepted["at_ms"]), (&json!("accepted"), &json!(0)));
    assert_eq!(
        (accepted["cost"].to_string(), accepted["balance"].to_string()),
        ("0.05".into(), "9.95".into())
    );
    assert_eq!(accepted["encoding"], "gsm7");
}

#[tokio::test]
async fn statistics_count_accepted_messages_by_value() {
    let (fixture, _) = fixture().await;
    for (query, value) in [
        ("sum=true", Value::Null),
        ("by=account&sum=true", json!("shop")),
        ("by=country&sum=true", json!("DE")),
        ("by=carrier&value=acme&sum=true", json!("acme")),
        ("account=shop&by=connection&sum=true", json!("shop-http")),
        ("by=sender&per=minute", json!("Shop")),
    ] {
        let body = fixture.get(&format!("/statistics?{query}")).await.body;
        let row = &body["items"][0];
        assert_eq!(
            (&row["value"], &row["accepted"], &row["open"]),
            (&value, &json!(3), &json!(3)),
            "{query}: {body}"
        );
        assert_eq!(
            (row["spend"].to_string(), &row["currency"]),
            ("0.15".to_owned(), &json!("EUR")),
            "{query}"
        );
    }
}

#[tokio::test]
async fn operator_sees_the_cost_and_the_margin_of_a_message_and_its_customer_does_not() {
    let fixture = ApiFixture::with_record().await;
    let cost = json!({"carrier": "acme", "country": "DE", "per_part": "0.04", "currency": "USD"});
    let put = fixture.put("/costs/acme%2FDE", cost).await;
    assert_eq!(put.status, 201, "{}", put.text);
    let (status, body) = fixture.submit(TO, "hello", &[]).await;
    assert_eq!(status, 202, "{body}");
    let id = body["message_id"].as_str().unwrap().to_owned();
    let costs = async || {
        fixture.gateway.store.record().flush().await.unwrap();
        fixture.get(&format!("/messages/{id}")).await.body["costs"].clone()
    };
    let waiting = costs().await;
    let expect = json!({
        "carrier": "acme", "per_part": 0.04, "currency": "USD", "basis": "submit", "entry": "acme/DE",
        "due_parts": null, "due": null
    });
    assert_eq!((&waiting["items"], &waiting["margin"]), (&json!([expect]), &Value::Null));
    // Later changes of the cost are not those of the message.
    let cost = json!({"carrier": "acme", "country": "DE", "per_part": "0.01", "currency": "USD"});
    assert_eq!(fixture.put("/costs/acme%2FDE", cost).await.status, 200);
    let cancel = json!({"action": "cancel", "conditions": {"ids": [id]}});
    let cancelled = fixture.post("/queues", cancel).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text);
    let ended = costs().await;
    let item = &ended["items"][0];
    assert_eq!(json!([item["per_part"], item["entry"], item["due_parts"]]), json!([0.04, null, 0]));
    assert_eq!(ended["margin"], Value::Null, "without an exchange rate");
    let row = fixture.get("/statistics?sum=true").await.body["items"][0].clone();
    assert_eq!(row["costs"], json!([{"currency": "USD", "due": 0, "messages": 1}]), "{row}");
    assert_eq!(row["margin"], Value::Null);
    let rate = json!({"base": "USD", "quote": "EUR", "rate": "0.9"});
    assert_eq!(fixture.put("/exchange-rates/USD-EUR", rate).await.status, 201);
    // It was cancelled and refunded, and nothing of it was sent.
    assert_eq!(costs().await["margin"], 0);
    let row = fixture.get("/statistics?sum=true").await.body["items"][0].clone();
    assert_eq!(row["margin"], 0, "{row}");
    let account = fixture.account("shop");
    let detail = show_message_of(&fixture.gateway, account, &id).await.unwrap();
    assert_eq!(detail.history.costs, None);
}

#[tokio::test]
async fn money_of_several_currencies_is_never_added_up() {
    let (fixture, _) = fixture().await;
    fixture.put("/accounts/other", json!({"currency": "USD"})).await;
    for (query, expect) in [
        ("sum=true", json!(["EUR", 0.15, 0])),
        ("by=country&sum=true", json!(["EUR", 0.15, 0])),
        ("by=account&sum=true", json!(["EUR", 0.15, 0])),
        ("account=shop&by=country&sum=true", json!(["EUR", 0.15, 0])),
    ] {
        let body = fixture.get(&format!("/statistics?{query}")).await.body;
        let row = &body["items"][0];
        assert_eq!(json!([row["currency"], row["spend"], row["refunded"]]), expect, "{query}: {body}");
        assert_eq!(row["accepted"], 3, "{query}");
    }
    let csv = fixture.get("/statistics.csv?by=account").await.text;
    assert!(csv.starts_with("start,value,") && csv.contains(",0.15,0,EUR,"), "{csv}");
    let csv = fixture.get("/statistics.csv").await.text;
    assert!(csv.contains(",0.15,0,EUR,"), "{csv}");
    // Nobody pays for a request without an account.
    fixture.gateway.store.record().note_request(request_of_nobody(&fixture));
    fixture.gateway.store.record().flush().await.unwrap();
    let body = fixture.get("/statistics?sum=true").await.body;
    let rows: Vec<Value> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["currency"], row["spend"], row["accepted"], row["refused"]]))
        .collect();
    assert_eq!(rows, [json!(["EUR", 0.15, 3, 0]), json!([null, null, 0, 1])], "{body}");
}

/// Returns a rejected request that names no account.
fn request_of_nobody(fixture: &ApiFixture) -> RequestEntry {
    RequestEntry {
        at: fixture.gateway.clock.now(),
        account: None,
        connection: None,
        kind: RequestKind::Http,
        operation: "POST /api/v1/sms".into(),
        who: "".into(),
        address: None,
        status: 401,
        code: Some("INVALID_API_KEY".into()),
        reason: "".into(),
        took_ms: 0,
        request: None,
        replay: Replay::No,
        message: None,
        recipient: None,
    }
}

#[tokio::test]
async fn rejected_requests_to_a_number_are_counted_and_found() {
    let (fixture, _) = fixture().await;
    let blocked = "+33612345678";
    for _ in 0..2 {
        assert_eq!(fixture.submit(blocked, "hello", &[]).await.0, 403);
    }
    fixture.gateway.store.record().flush().await.unwrap();
    for (query, expect) in [
        ("to=%2B33612345678", json!({"count": 2, "exact": true})),
        ("to=33612345678&account=shop&since=1h", json!({"count": 2, "exact": true})),
        ("to=33612345678&until=1h", json!({"count": 0, "exact": true})),
        ("to=33612345679", json!({"count": 0, "exact": true})),
        ("to=%2B4915112345678", json!({"count": 0, "exact": true})),
        ("to=336*", Value::Null),
        ("account=shop", Value::Null),
    ] {
        let body = fixture.get(&format!("/messages?{query}")).await.body;
        assert_eq!(body["rejected_requests"], expect, "{query}: {body}");
    }
    for (query, expect) in [
        ("to=%2B33612345678&rejected=true", 2),
        ("to=33612345678&account=shop&code=COUNTRY_BLOCKED&kind=http", 2),
        ("to=33612345678&kind=submit", 0),
        ("to=33612345679", 0),
        ("to=%2B4915112345678&rejected=true", 0),
        // Those that were accepted are found too.
        ("to=%2B4915112345678", 2),
    ] {
        let found = fixture.get(&format!("/requests?{query}")).await.body;
        assert_eq!(found["items"].as_array().map(Vec::len), Some(expect), "{query}: {found}");
        assert!(!found.to_string().contains("12345678"), "{found}");
    }
    let csv = fixture.get("/requests.csv?to=33612345678").await.text;
    assert_eq!(csv.matches("COUNTRY_BLOCKED").count(), 2, "{csv}");
}

#[tokio::test]
async fn rejected_requests_are_grouped_with_what_to_do() {
    let (fixture, ids) = fixture().await;
    let (status, _) = fixture.submit("+33612345678", "hello", &[]).await;
    assert_eq!(status, 403);
    fixture.gateway.store.record().flush().await.unwrap();
    let groups = fixture.get("/requests/groups").await.body;
    let group = &groups["items"][0];
    assert_eq!((&group["code"], &group["count"]), (&json!("COUNTRY_BLOCKED"), &json!(1)), "{groups}");
    let advice = group["what_to_do"].as_str().unwrap();
    assert!(advice.contains("hermod account set NAME countries="), "{advice}");
    let log = fixture.get("/requests?account=shop").await.body;
    let lines = log["items"].as_array().unwrap();
    assert_eq!((&lines[0]["code"], &lines[0]["status"]), (&json!("COUNTRY_BLOCKED"), &json!(403)), "{log}");
    assert!(lines.iter().any(|line| line["message_id"] == json!(ids[0])), "{log}");
    for query in ["code=COUNTRY_BLOCKED", "account=shop&code=COUNTRY_BLOCKED&kind=http"] {
        let found = fixture.get(&format!("/requests?{query}")).await.body;
        assert_eq!(found["items"].as_array().map(Vec::len), Some(1), "{query}: {found}");
    }
    assert_eq!(fixture.get("/requests?rejected=true").await.body["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn two_exports_of_an_account_run_at_a_time() {
    let (fixture, ids) = fixture().await;
    let reply = fixture.get("/messages.csv?account=shop").await;
    assert!(reply.header("content-type").unwrap().starts_with("text/csv"));
    let lines: Vec<&str> = reply.text.split("\r\n").collect();
    assert!(lines[0].starts_with("id,accepted_at,account,connection,from,to,"), "{}", lines[0]);
    assert_eq!(lines.len(), 5, "{}", reply.text);
    assert!(lines[1].starts_with(&ids[2]) && lines[1].contains(",4917012345678,"), "{}", lines[1]);
    let first = fixture.stream("/messages.csv", None).await;
    let second = fixture.stream("/requests.csv", None).await;
    assert_eq!((first.0, second.0), (200, 200));
    let refused = fixture.get("/statistics.csv").await;
    assert_eq!((refused.status, refused.header("x-error-code")), (429, Some("EXPORTS_RUNNING")));
    drop(first);
    assert_eq!(fixture.get("/statistics.csv").await.status, 200);
    drop(second);
}

/// Reads events until one has data. Returns its id and its data.
async fn next_event(body: &mut Body) -> (String, Value) {
    loop {
        let frame = body.frame().await.unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        if let Some(data) = field("data: ") {
            return (field("id: ").unwrap(), serde_json::from_str(&data).unwrap());
        }
        assert!(text.starts_with("retry: ") || text.starts_with(':'), "{text}");
    }
}

#[tokio::test]
async fn live_feed_resumes_after_the_last_event() {
    let (fixture, _) = fixture().await;
    let (status, mut body) = fixture.stream("/live?account=shop", None).await;
    assert_eq!(status, 200);
    fixture.submit(TO, "one", &[]).await;
    let (id, frame) = next_event(&mut body).await;
    assert_eq!((&frame["total"], &frame["shown"][0]["message"]["to"]), (&json!(1), &json!(TO)), "{frame}");
    drop(body);
    let (_, submitted) = fixture.submit(TO, "two", &[]).await;
    fixture.gateway.store.record().flush().await.unwrap();
    let (_, mut body) = fixture.stream("/live?account=shop", Some(&id)).await;
    let (_, missed) = next_event(&mut body).await;
    assert_eq!(missed["shown"][0]["message"]["id"], submitted["message_id"], "{missed}");
}
