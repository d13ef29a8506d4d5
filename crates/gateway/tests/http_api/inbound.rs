//! `GET /inbound`. The tests write inbound messages to the store directly.

use crate::client::Reply;
use crate::fixture::{START, Service};
use crate::test_customers::{ACME, ACME_TOO, POSTPAID, SLOW};
use hermod_domain::ids::AccountId;
use hermod_store::Inbound;
use serde_json::{Value, json};
use std::time::Duration;

const ACME_ACCOUNT: u32 = 1;
const POSTPAID_ACCOUNT: u32 = 2;

async fn receive(service: &Service, account: u32, text: &str) -> u64 {
    let inbound = Inbound {
        account: AccountId::new(account),
        from: "+4915112345678".to_owned(),
        to: "Acme".to_owned(),
        text: text.to_owned(),
        received_at: START.plus(Duration::from_millis(1_999)),
    };
    service.gateway.store.inbound().receive(inbound).await.unwrap().id
}

#[track_caller]
fn page(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

fn texts(page: &Value) -> Vec<&str> {
    page["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn inbound_message_has_exactly_the_documented_fields() {
    let service = Service::start().await;
    receive(&service, ACME_ACCOUNT, "hello").await;
    let page = page(&service.get(ACME, "/api/v1/inbound").await);
    let message_id = page["messages"][0]["message_id"].as_str().unwrap().to_owned();
    assert_eq!(
        page,
        json!({
            "messages": [{
                "id": 1,
                "message_id": message_id,
                "from": "+4915112345678",
                "to": "Acme",
                "text": "hello",
                "received_at": "2025-06-15T15:06:41Z",
            }],
            "next_since": 1,
            "count": 1,
        })
    );
    // An inbound message is not found under /sms.
    assert_eq!(service.get(ACME, &format!("/api/v1/sms/{message_id}")).await.status, 404);
}

#[tokio::test]
async fn inbound_pages_have_no_gaps_or_repeats() {
    let service = Service::start().await;
    let expect: Vec<String> = (0..25).map(|number| format!("message {number}")).collect();
    let (mut since, mut seen) = (0, Vec::new());
    for text in &expect[..20] {
        receive(&service, ACME_ACCOUNT, text).await;
        receive(&service, POSTPAID_ACCOUNT, "not for acme").await;
    }
    for round in 0.. {
        let page = page(&service.get(ACME, &format!("/api/v1/inbound?since={since}&limit=7")).await);
        let texts = texts(&page);
        assert_eq!(page["count"].as_u64(), Some(texts.len() as u64));
        assert!(texts.len() <= 7);
        if texts.is_empty() {
            assert_eq!(page["next_since"].as_u64(), Some(since), "an empty page returns the requested since");
            break;
        }
        seen.extend(texts.iter().map(|text| (*text).to_owned()));
        since = page["next_since"].as_u64().unwrap();
        // New messages arrive between the pages.
        if round == 1 {
            for text in &expect[20..] {
                receive(&service, ACME_ACCOUNT, text).await;
            }
        }
    }
    assert_eq!(seen, expect);
}

#[tokio::test]
async fn since_and_limit_have_defaults_and_bounds() {
    let service = Service::start().await;
    for number in 0..501 {
        receive(&service, ACME_ACCOUNT, &number.to_string()).await;
    }
    for (query, count, next) in [
        ("", 100, 100),
        ("?since=0", 100, 100),
        ("?limit=1", 1, 1),
        ("?limit=500", 500, 500),
        ("?limit=501", 500, 500),
        ("?limit=99999999999999999999", 500, 500),
        ("?since=500", 1, 501),
        ("?since=501", 0, 501),
        ("?since=9999", 0, 9999),
        ("?since=9223372036854775807", 0, i64::MAX.unsigned_abs()),
        ("?since=%34%39%39&other=1&other=2", 2, 501),
    ] {
        let page = page(&service.get(ACME, &format!("/api/v1/inbound{query}")).await);
        let shown = (page["count"].as_u64(), page["next_since"].as_u64());
        assert_eq!(shown, (Some(count), Some(next)), "{query}");
    }
    for query in ["limit=0", "limit=-1", "limit=ten", "limit=", "since=-1", "since=x", "since=1&since=1"] {
        let reply = service.get(ACME, &format!("/api/v1/inbound?{query}")).await;
        assert_eq!((reply.status, reply.code()), (400, "INVALID_FIELD"), "{query}");
        assert!(reply.header("x-ratelimit-remaining").is_some(), "{query}");
    }
}

#[tokio::test]
async fn each_account_reads_its_own_inbound_messages_numbered_from_one() {
    let service = Service::start().await;
    for number in 1..=3 {
        assert_eq!(receive(&service, ACME_ACCOUNT, "for acme").await, number);
    }
    assert_eq!(receive(&service, POSTPAID_ACCOUNT, "for postpaid").await, 1);
    let own = page(&service.get(POSTPAID, "/api/v1/inbound").await);
    assert_eq!((texts(&own), own["next_since"].as_u64()), (vec!["for postpaid"], Some(1)));
    // All keys and connections of an account read the same messages.
    for key in [ACME, ACME_TOO, SLOW] {
        assert_eq!(page(&service.get(key, "/api/v1/inbound").await)["count"], 3, "{key}");
    }
    assert_eq!(page(&service.get(ACME, "/api/v1/inbound?since=2").await)["count"], 1);
}

#[tokio::test]
async fn inbound_text_is_returned_unchanged() {
    let service = Service::start().await;
    let odd = [
        "\"quotes\" and \\backslashes\\",
        "line\r\nbreaks\tand\u{0}nothing\u{1b}[31m",
        "</script><script>alert(1)</script>",
        "\u{2028}\u{2029}\u{feff}\u{202e}",
        "👩‍👩‍👧 ÄÖÜ ñ Ω",
        "",
    ];
    for text in odd {
        receive(&service, ACME_ACCOUNT, text).await;
    }
    assert_eq!(texts(&page(&service.get(ACME, "/api/v1/inbound").await)), odd);
}

#[tokio::test]
async fn polling_needs_credentials_takes_a_token_and_allows_only_reads() {
    let service = Service::start().await;
    let mut client = service.client().await;
    assert_eq!(client.call("GET", "/api/v1/inbound", &[], b"").await.status, 401);
    let reply = client.call("POST", "/api/v1/inbound", &[], b"").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")));
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(client.get(SLOW, "/api/v1/inbound").await.status);
    }
    assert_eq!(statuses, [200, 200, 429]);
}
