//! Roles of operators: which operations they may call, what is masked for them, and the reasons that they give.

use crate::fixture::{ApiFixture, Reply, request};
use crate::openapi_check;
use axum::body::Body;
use axum::http::Response;
use hermod_domain::carrier::IdConversion;
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::operator_role::OperatorRole;
use hermod_domain::origin::SmppAddress;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_operator::api::document::document;
use hermod_store::{LinkKind, LinkNumber, MoRecord, Screened};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::Duration;

/// A handset of which no response to a masked role may have the number.
const HANDSET: &str = "+4915112345678";
/// Its digits, as a part of other texts.
const DIGITS: &str = "15112345678";
/// A number that a caller types.
const TYPED: &str = "+4917099999999";
const TEXT: &str = "Canary code 4711";
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

fn token(role: OperatorRole) -> String {
    format!("token-of-the-{role}-with-many-characters")
}

/// Returns the fixture of a running gateway with an operator of each role.
async fn fixture() -> ApiFixture {
    let fixture = ApiFixture::with_record().await;
    for role in OperatorRole::ALL {
        let entry = json!({ "role": role.as_str(), "token": token(role) });
        assert_eq!(fixture.put(&format!("/operators/the-{role}"), entry).await.status, 201);
    }
    fixture
}

/// Every operation of the document: method, path, and the operation.
fn operations() -> Vec<(String, String, Value)> {
    let document = serde_json::to_value(document()).unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    let of_path = |(path, item): (String, Value)| {
        METHODS.iter().filter_map(move |method| {
            let operation = item.get(*method)?;
            Some((method.to_uppercase(), path.clone(), operation.clone()))
        })
    };
    paths.into_iter().flat_map(of_path).collect()
}

async fn send(
    fixture: &ApiFixture,
    role: OperatorRole,
    reason: Option<&str>,
    method: &str,
    path: &str,
    body: &Value,
) -> Response<Body> {
    let mut request = request(&token(role), method, path).header("Content-Type", "application/json");
    if let Some(reason) = reason {
        request = request.header("X-Reason", reason);
    }
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    fixture.respond(request.body(body).unwrap()).await
}

async fn get(fixture: &ApiFixture, role: OperatorRole, reason: Option<&str>, path: &str) -> Reply {
    let (head, body) = send(fixture, role, reason, "GET", path, &Value::Null).await.into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let reply = Reply { status: head.status.as_u16(), headers: head.headers, text, body };
    openapi_check::check("GET", path, &reply);
    reply
}

fn code(response: &Response<Body>) -> &str {
    response.headers().get("x-error-code").map_or("", |code| code.to_str().unwrap())
}

#[tokio::test]
async fn every_operation_is_refused_exactly_to_the_roles_that_it_does_not_name() {
    let fixture = fixture().await;
    let operations = operations();
    assert!(operations.len() > 100, "{}", operations.len());
    for (method, path, operation) in &operations {
        let named =
            operation["x-roles"].as_array().unwrap_or_else(|| panic!("{method} {path} names no role"));
        assert!(named.contains(&json!("admin")), "{method} {path}");
        let about = operation["description"].as_str().unwrap();
        assert!(about.contains("Role: "), "{method} {path}: {about}");
        // Nothing has this name, so that no operation does much.
        let filled = path.replace("{number}", "1").replace("{id}", "1");
        let filled = filled.split('/').map(|piece| if piece.starts_with('{') { "nothing" } else { piece });
        let filled = filled.collect::<Vec<_>>().join("/");
        for role in OperatorRole::ALL {
            let response = send(&fixture, role, None, method, &filled, &json!({})).await;
            let is_refused = code(&response) == "ROLE_NOT_ALLOWED";
            assert_eq!(is_refused, !named.contains(&json!(role.as_str())), "{method} {path} by {role}");
            assert!(!is_refused || response.status() == 403, "{method} {path} by {role}");
        }
    }
}

#[tokio::test]
async fn refusal_names_the_roles_that_may() {
    let fixture = fixture().await;
    let top_up = json!({ "kind": "top-up", "amount": "5" });
    for (role, method, path, body, expect) in [
        (OperatorRole::Operations, "POST", "/accounts/shop/ledger", top_up, "finance or admin"),
        (OperatorRole::Finance, "PUT", "/carriers/x", json!({}), "operations or admin"),
        (OperatorRole::Operations, "PUT", "/operators/eve", json!({ "role": "admin" }), "admin"),
        (OperatorRole::Reader, "PUT", "/accounts/x", json!({}), "finance, operations or admin"),
    ] {
        let response = send(&fixture, role, None, method, path, &body).await;
        let text = response.into_body().collect().await.unwrap().to_bytes();
        let error = format!("ROLE_NOT_ALLOWED: your role is {role}, and this needs the role {expect}");
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), json!({ "error": error }), "{path}");
    }
    assert_eq!(fixture.get("/accounts/shop/balance").await.body["balance"], 10);
    assert_eq!(fixture.get("/operators/eve").await.status, 404);
}

#[tokio::test]
async fn provision_file_may_have_only_kinds_that_the_role_may_change() {
    let fixture = fixture().await;
    let price = json!({ "price": [{ "prefix": "43", "per_part": "0.06" }] });
    let both = json!({
        "price": [{ "prefix": "44", "per_part": "0.06" }],
        "screen": [{ "name": "links", "pattern": "http" }],
    });
    let removal = json!({ "remove": [{ "kind": "operator", "name": "the-reader" }] });
    for (role, file, status) in [
        (OperatorRole::Finance, &price, 200),
        (OperatorRole::Operations, &price, 403),
        (OperatorRole::Finance, &both, 403),
        (OperatorRole::Operations, &removal, 403),
        (OperatorRole::Admin, &both, 200),
    ] {
        let response = send(&fixture, role, None, "POST", "/apply", file).await;
        assert_eq!(response.status().as_u16(), status, "{file} by {role}");
    }
    assert_eq!(fixture.get("/operators/the-reader").await.status, 200);
}

#[tokio::test]
async fn new_operator_needs_a_role_and_keeps_it() {
    let fixture = ApiFixture::open().await;
    assert_eq!(
        fixture.put("/operators/ann", json!({})).await.status_and_error(),
        "422 REFUSED: operator \"ann\" needs one of the roles reader, support, finance, operations, admin: missing field `role`"
    );
    let until = json!({ "role": "support", "until": "2026-07-01" });
    assert_eq!(fixture.put("/operators/ann", until).await.status, 201);
    assert_eq!(fixture.patch("/operators/ann", json!({ "until": "2026-08-01" })).await.status, 200);
    let entry = fixture.get("/operators/ann").await.body;
    assert_eq!(entry["entry"], json!({ "name": "ann", "role": "support", "until": "2026-08-01" }));
    let applied = fixture.apply("/apply", "[[operator]]\nname = \"ann\"\n").await;
    assert_eq!((applied.status, applied.changes()), (200, "same operator ann".to_owned()));
    assert_eq!(fixture.put("/operators/bob", json!({ "role": "boss" })).await.status, 422);
}

#[tokio::test]
async fn expired_token_is_told_so_and_rejected() {
    let fixture = fixture().await;
    let reader = OperatorRole::Reader;
    fixture.patch("/operators/the-reader", json!({ "until": "2026-06-15T12:00:01Z" })).await;
    assert_eq!(get(&fixture, reader, None, "/errors").await.status, 200);
    fixture.patch("/operators/the-reader", json!({ "until": "2026-06-15T12:00:00Z" })).await;
    let expired = get(&fixture, reader, None, "/errors").await;
    assert!(expired.header("www-authenticate").is_some());
    let error = expired.status_and_error();
    assert!(error.starts_with("401 INVALID_TOKEN: your token expired on 2026-06-15T12:00:00Z"), "{error}");
    fixture.patch("/operators/the-reader", json!({ "until": null })).await;
    assert_eq!(get(&fixture, reader, None, "/errors").await.status, 200);
}

/// Stores a message, an MO message, a review case, an opt-out and a block, each with [`HANDSET`], and texts with [`TEXT`].
/// Returns the id of the message and of the review case.
async fn store_personal_data(fixture: &ApiFixture) -> (String, u64) {
    let gateway = &fixture.gateway;
    let (status, sent) = fixture.submit(HANDSET, TEXT, &[]).await;
    assert_eq!(status, 202, "{sent}");
    let acme = gateway.catalogue().carriers()[0].0;
    let kind = LinkKind::ReceivesOnly;
    let link = gateway.store.open_link(acme, LinkNumber(1), kind, IdConversion::None).await.unwrap();
    let segment = MoSegment {
        data_coding: 0,
        alphabet: Alphabet::Gsm,
        header: Box::default(),
        octets: TEXT.as_bytes().into(),
    };
    let source = SmppAddress::new(1, 1, HANDSET.trim_start_matches('+').as_bytes());
    let destination = SmppAddress::new(3, 0, b"80800");
    let part = InboundPart { source, destination, concat: None, reference: None, segment };
    let mo = MoRecord { sequence: 1, part };
    link.record(vec![], vec![], vec![mo], 0, gateway.clock.now()).await.unwrap();
    let screened = Screened {
        account: fixture.account("shop"),
        from: Sender::parse("Shop").unwrap(),
        to: Msisdn::parse(HANDSET).unwrap(),
        text: TEXT.to_owned(),
        digest: [7; 16],
        rules: vec!["links".to_owned()],
        now: gateway.clock.now(),
    };
    gateway.store.reviews().screen(screened).await.unwrap();
    let opt_out = json!({ "how": "asked by phone" });
    assert_eq!(fixture.put(&format!("/accounts/shop/opt-outs/{HANDSET}"), opt_out).await.status, 201);
    assert_eq!(fixture.put(&format!("/blocks/shop%2F49{DIGITS}"), json!({})).await.status, 201);
    gateway.store.record().flush().await.unwrap();
    let review = fixture.get("/reviews").await.body["items"][0]["id"].as_u64().unwrap();
    (sent["message_id"].as_str().unwrap().to_owned(), review)
}

/// Fills the names of a path with what exists.
fn filled(path: &str, message: &str, review: u64) -> String {
    let name = match path {
        _ if path.starts_with("/accounts") => "shop",
        _ if path.starts_with("/carriers") || path.starts_with("/queues") => "acme",
        _ if path.starts_with("/blocks") => "shop%2F4915112345678",
        _ => "nothing",
    };
    let path = path.replace("{name}", name).replace("{carrier}", name).replace("{message}", message);
    let path = path.replace("{id}", &review.to_string()).replace("{event}", "evt_1");
    match path.as_str() {
        "/routes/explain" => format!("{path}?to=%2B{}", &TYPED[1..]),
        "/messages/text" => format!("{path}?account=shop&text=canary"),
        _ => path.replace("{number}", TYPED),
    }
}

#[tokio::test]
async fn masked_roles_get_no_number_and_no_text_from_any_operation() {
    let fixture = fixture().await;
    let (message, review) = store_personal_data(&fixture).await;
    let mut shown_whole = Vec::new();
    for (method, path, operation) in operations() {
        if method != "GET" || path == "/live" {
            continue;
        }
        let filled = filled(&path, &message, review);
        for role in [OperatorRole::Reader, OperatorRole::Support, OperatorRole::Finance] {
            let reply = get(&fixture, role, None, &filled).await;
            assert!(!reply.text.contains(DIGITS), "{path} by {role}: {}", reply.text);
            assert!(!reply.text.contains(TEXT), "{path} by {role}: {}", reply.text);
            let needs_reason = reply.header("x-error-code") == Some("REASON_NEEDED");
            assert!(!needs_reason || operation["responses"].to_string().contains("REASON_NEEDED"), "{path}");
        }
        let whole = get(&fixture, OperatorRole::Operations, None, &filled).await.text;
        let for_reason = get(&fixture, OperatorRole::Support, Some("ticket 4711"), &filled).await;
        if whole.contains(DIGITS) || whole.contains(TEXT) {
            assert!(for_reason.text.contains(DIGITS), "{path}: {}", for_reason.text);
            let documented = operation["parameters"].to_string().contains("X-Reason");
            assert!(documented, "{path} has numbers or texts, and does not say that it masks them");
            shown_whole.push(path);
        }
    }
    let expect = [
        "/accounts/{name}/opt-outs",
        "/audit-log",
        "/blocks",
        "/blocks.csv",
        "/blocks/{name}",
        "/export",
        "/inbound/unassigned",
        "/messages",
        "/messages.csv",
        "/messages/text",
        "/messages/{message}",
        "/opt-outs.csv",
        "/reviews",
        "/reviews/{id}",
    ];
    shown_whole.sort();
    assert_eq!(shown_whole, expect);
}

#[tokio::test]
async fn search_by_a_part_of_a_number_needs_what_whole_numbers_need() {
    let fixture = fixture().await;
    store_personal_data(&fixture).await;
    let reason = Some("ticket 4711");
    for path in ["/messages", "/messages.csv", "/messages/count"] {
        for part in ["%2B4915*", "*5678", "*12345678"] {
            let searched = format!("{path}?to={part}");
            let refused = get(&fixture, OperatorRole::Support, None, &searched).await;
            assert_eq!(refused.header("x-error-code"), Some("REASON_NEEDED"), "{searched}: {}", refused.text);
            let refused = get(&fixture, OperatorRole::Reader, None, &searched).await;
            assert_eq!(
                refused.header("x-error-code"),
                Some("ROLE_NOT_ALLOWED"),
                "{searched}: {}",
                refused.text
            );
            assert_eq!(
                get(&fixture, OperatorRole::Support, reason, &searched).await.status,
                200,
                "{searched}"
            );
            assert_eq!(
                get(&fixture, OperatorRole::Operations, None, &searched).await.status,
                200,
                "{searched}"
            );
        }
        for shown in ["%2B491*", &format!("%2B{}", &TYPED[1..])] {
            let searched = format!("{path}?to={shown}");
            assert_eq!(get(&fixture, OperatorRole::Reader, None, &searched).await.status, 200, "{searched}");
        }
    }
}

#[tokio::test]
async fn fields_of_an_account_need_the_permission_of_what_they_change() {
    let fixture = fixture().await;
    for (role, field, value, is_permitted) in [
        (OperatorRole::Finance, "webhook_secret", json!("a-secret-of-thirty-two-characters"), false),
        (OperatorRole::Finance, "senders", json!(["Hermod"]), false),
        (OperatorRole::Finance, "credit_limit", json!("5"), true),
        (OperatorRole::Operations, "opening_balance", json!("5"), false),
        (OperatorRole::Operations, "senders", json!(["Hermod"]), true),
        (OperatorRole::Operations, "credit_limit", json!("6"), true),
    ] {
        let fields = json!({ field: value });
        let patched = send(&fixture, role, None, "PATCH", "/accounts/shop", &fields).await;
        let applied = json!({ "account": [{ "name": "shop", field: value }] });
        let applied = send(&fixture, role, None, "POST", "/apply?dry_run=true", &applied).await;
        for (how, reply) in [("patched", patched), ("applied", applied)] {
            let code = reply.headers().get("x-error-code").map(|code| code.to_str().unwrap().to_owned());
            let is_refused = code.as_deref() == Some("ROLE_NOT_ALLOWED");
            assert_eq!(is_refused, !is_permitted, "{role} {field} {how}: {code:?}");
        }
    }
}

#[tokio::test]
async fn live_feed_is_masked_without_a_reason() {
    let fixture = fixture().await;
    for (role, reason, is_whole) in [
        (OperatorRole::Operations, None, true),
        (OperatorRole::Reader, None, false),
        (OperatorRole::Support, None, false),
        (OperatorRole::Support, Some("ticket 4711"), true),
    ] {
        let mut feed = send(&fixture, role, reason, "GET", "/live", &Value::Null).await.into_body();
        let (status, sent) = fixture.submit(HANDSET, TEXT, &[]).await;
        assert_eq!(status, 202, "{sent}");
        let id = sent["message_id"].as_str().unwrap();
        let frame = loop {
            let piece = feed.frame().await.unwrap().unwrap().into_data().unwrap();
            let piece = String::from_utf8(piece.to_vec()).unwrap();
            if piece.contains(id) {
                break piece;
            }
        };
        assert_eq!(frame.contains(DIGITS), is_whole, "{role} {reason:?}: {frame}");
        assert_eq!(frame.contains("+491********78"), !is_whole, "{role} {reason:?}: {frame}");
    }
}

#[tokio::test]
async fn reason_shows_numbers_and_is_in_the_audit_log() {
    let fixture = fixture().await;
    let (message, review) = store_personal_data(&fixture).await;
    let support = OperatorRole::Support;
    let path = format!("/messages/{message}");
    assert_eq!(get(&fixture, support, None, &path).await.body["to"], "+491********78");
    let reason = format!("ticket 4711 of {HANDSET}");
    assert_eq!(get(&fixture, support, Some(&reason), &path).await.body["to"], HANDSET);
    let search = "/messages?account=shop&to=%2B4915112345678";
    assert_eq!(get(&fixture, support, Some("größere Störung"), search).await.body["items"][0]["to"], HANDSET);
    let text = "/messages/text?account=shop&text=canary";
    assert_eq!(get(&fixture, support, Some("ticket 4712"), text).await.status, 200);
    let approve = format!("/reviews/{review}/approve");
    let body = json!({ "by": "sue" });
    let approved = send(&fixture, support, Some("ticket 4713"), "POST", &approve, &body).await;
    let approved = approved.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&approved).unwrap()["to"], HANDSET);

    let log = fixture.get("/audit-log?action=reason").await.body;
    let rows = log["items"].as_array().unwrap().iter().map(|row| {
        assert_eq!(row["by"], "operator the-support", "{row}");
        let detail = &row["detail"];
        [&row["subject"], &row["account"], &detail["reason"], &detail["query"]].map(Value::clone)
    });
    let expect = [
        // The row of a change is written before the change, whose path names no account.
        [json!(format!("POST {approve}")), json!(null), json!("ticket 4713"), json!("")],
        [json!("GET /messages/text"), json!("shop"), json!("ticket 4712"), json!("account=shop")],
        [
            json!("GET /messages"),
            json!("shop"),
            json!("größere Störung"),
            json!("account=shop&to=+491********78"),
        ],
        [json!(format!("GET {path}")), json!("shop"), json!("ticket 4711 of +491********78"), json!("")],
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expect);
}

#[tokio::test]
async fn reason_is_refused_from_a_reader_and_if_it_says_nothing() {
    let fixture = fixture().await;
    let refused = get(&fixture, OperatorRole::Reader, Some("curiosity"), "/messages").await;
    assert_eq!(
        refused.status_and_error(),
        "403 ROLE_NOT_ALLOWED: your role is reader, and this needs the role support, finance, operations or admin"
    );
    for reason in ["", "x ", &"x".repeat(201)] {
        let refused = get(&fixture, OperatorRole::Support, Some(reason), "/messages").await;
        assert_eq!(refused.header("x-error-code"), Some("INVALID_FIELD"), "{reason}");
    }
    let needed = get(&fixture, OperatorRole::Support, None, "/blocks").await;
    assert_eq!((needed.status, needed.header("x-error-code")), (403, Some("REASON_NEEDED")));
    assert_eq!(fixture.get("/audit-log?action=reason").await.body["items"], json!([]));
}

/// Reads a live feed to its end while time passes. Returns what it had.
async fn read_to_end(fixture: &ApiFixture, feed: Body) -> String {
    let time = async {
        loop {
            fixture.gateway.clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let bytes = tokio::select! {
        read = feed.collect() => read.unwrap().to_bytes(),
        () = time => unreachable!("time does not end"),
    };
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn live_feed_ends_when_the_operator_is_no_longer_what_it_was() {
    let reader = "/operators/the-reader";
    for (change, fields) in [
        ("its token ends", Some(json!({ "until": "2026-06-15T12:00:03Z" }))),
        ("it gets another role", Some(json!({ "role": "support" }))),
        ("it gets another token", Some(json!({ "token": "another-token-of-many-characters" }))),
        ("it is removed", None),
    ] {
        let fixture = fixture().await;
        let response = send(&fixture, OperatorRole::Reader, None, "GET", "/live", &Value::Null).await;
        assert_eq!(response.status(), 200, "{change}");
        let changed = match fields {
            Some(fields) => fixture.patch(reader, fields).await,
            None => fixture.delete(reader).await,
        };
        assert_eq!(changed.status, 200, "{change}: {}", changed.text);
        let text = read_to_end(&fixture, response.into_body()).await;
        assert!(text.starts_with("retry: ") && !text.contains("event: frame"), "{change}: {text}");
    }
}

#[tokio::test]
async fn live_feed_has_no_frame_after_its_operator_was_removed() {
    let fixture = fixture().await;
    let response = send(&fixture, OperatorRole::Support, None, "GET", "/live", &Value::Null).await;
    assert_eq!(fixture.delete("/operators/the-support").await.status, 200);
    let (status, sent) = fixture.submit(HANDSET, TEXT, &[]).await;
    assert_eq!(status, 202, "{sent}");
    fixture.gateway.store.record().flush().await.unwrap();
    let text = read_to_end(&fixture, response.into_body()).await;
    assert!(!text.contains("event: frame"), "{text}");
}
