//! Requests without a valid token, and invalid requests.

use crate::fixture::{ApiFixture, TOKEN};
use axum::body::Body;
use axum::http::Request;
use serde_json::json;

#[tokio::test]
async fn request_without_the_token_gets_401() {
    let fixture = ApiFixture::open().await;
    let shorter = &TOKEN[1..];
    for given in [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Bearer {shorter}")),
        Some(format!("Bearer {TOKEN}x")),
        Some(format!("Basic {TOKEN}")),
        Some(TOKEN.to_owned()),
        Some("Bearer shop-key:shop-secret-text-of-many-characters".to_owned()),
        Some(format!("Bearer {}", "x".repeat(5000))),
    ] {
        for (method, path) in [
            ("GET", "/accounts"),
            ("PUT", "/accounts/x"),
            ("POST", "/apply"),
            ("GET", "/nowhere"),
            ("GET", "/"),
        ] {
            let mut request = Request::builder().method(method).uri(format!("/operator/v1{path}"));
            if let Some(given) = &given {
                request = request.header("Authorization", given);
            }
            let reply = fixture.send(request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(reply.status, 401, "{given:?} {method} {path}: {}", reply.text);
            assert_eq!(reply.header("x-error-code"), Some("INVALID_TOKEN"));
            assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"));
            assert!(!reply.text.contains(TOKEN));
        }
    }
    let twice = Request::builder()
        .uri("/operator/v1/accounts")
        .header("Authorization", format!("Bearer {TOKEN}"))
        .header("Authorization", format!("Bearer {TOKEN}"));
    assert_eq!(fixture.send(twice.body(Body::empty()).unwrap()).await.status, 401);
}

#[tokio::test]
async fn remote_caller_on_a_local_listener_gets_403() {
    let fixture = ApiFixture::open().await;
    for (caller, status) in [("127.0.0.1", 200), ("::1", 200), ("192.0.2.7", 403), ("10.0.0.1", 403)] {
        let ask = Request::builder()
            .uri("/operator/v1/accounts")
            .header("Authorization", format!("Bearer {TOKEN}"))
            .header("Host", "localhost")
            .header("X-Caller", caller);
        let reply = fixture.on_local_listener().send(ask.body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status, status, "{caller}: {}", reply.text);
    }
}

#[tokio::test]
async fn every_response_has_a_request_id_and_is_not_cached() {
    let fixture = ApiFixture::open().await;
    for path in ["/accounts", "/accounts/nobody", "/nowhere"] {
        let reply = fixture.get(path).await;
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("x-request-id").map(str::len), Some(21), "{path}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
    }
    let own = Request::builder().uri("/operator/v1/accounts").header("X-Request-Id", "mine-1");
    assert_eq!(fixture.send(own.body(Body::empty()).unwrap()).await.header("x-request-id"), Some("mine-1"));
}

#[tokio::test]
async fn unknown_paths_and_methods_get_errors_in_the_same_form() {
    let fixture = ApiFixture::open().await;
    assert_eq!(
        fixture.get("/nowhere").await.status_and_error(),
        "404 NOT_FOUND: there is nothing at this path"
    );
    assert_eq!(fixture.get("").await.status, 404);
    let reply = fixture.call("DELETE", "/accounts", "", "").await;
    assert_eq!(reply.status_and_error(), "405 METHOD_NOT_ALLOWED: the path does not support this method");
    assert_eq!(reply.header("allow"), Some("GET,HEAD"));
    assert_eq!(fixture.get("/apply").await.header("allow"), Some("POST"));
    assert_eq!(fixture.get("/accounts/%ff").await.status, 404);
    assert_eq!(fixture.get("/routes/%2a").await.status, 200);
    assert_eq!(fixture.get("/senders/shop%2FShop").await.status, 200);
    assert_eq!(fixture.get("/senders/shop/Shop").await.status, 200);
}

#[tokio::test]
async fn invalid_bodies_are_rejected() {
    let fixture = ApiFixture::open().await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    let deep = format!("{{\"currency\": {}1{}}}", "[".repeat(1000), "]".repeat(1000));
    for (kind, body, expect) in [
        ("", "{}", "400 INVALID_CONTENT_TYPE: send Content-Type: application/json"),
        ("text/plain", "{}", "400 INVALID_CONTENT_TYPE: send Content-Type: application/json"),
        ("application/json", "", "400 INVALID_JSON: the body is not valid: EOF while parsing a value"),
        ("application/json", "{", "400 INVALID_JSON: the body is not valid: EOF while parsing an object"),
        ("application/json", "[]", "400 INVALID_JSON: the body is not valid: it is not an object"),
        (
            "application/json; charset=utf-8",
            "{\"currency\":\"EUR\",\"currency\":\"USD\"}",
            "400 INVALID_JSON: the body is not valid: duplicate key \"currency\"",
        ),
        (
            "application/json",
            "{\"currency\":\"EUR\",\"colour\":1}",
            "422 REFUSED: account \"x\": colour: unknown field `colour`",
        ),
        (
            "application/json",
            "{\"currency\":1}",
            "422 REFUSED: account \"x\": currency: invalid type: integer `1`",
        ),
        ("application/json", "{\"currency\":\"EUR\",\"senders\":[null]}", "422 REFUSED: account \"x\": "),
        (
            "application/json",
            deep.as_str(),
            "400 INVALID_JSON: the body is not valid: recursion limit exceeded",
        ),
    ] {
        let told = fixture.call("PUT", "/accounts/x", kind, body.to_owned()).await.status_and_error();
        assert!(told.starts_with(expect), "{told}");
    }
    let bytes = Body::from(vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']);
    assert_eq!(fixture.call("PUT", "/accounts/x", "application/json", bytes).await.status, 400);
    let bytes = Body::from(vec![0xff, 0xfe]);
    assert_eq!(
        fixture.call("POST", "/apply", "application/toml", bytes).await.status_and_error(),
        "400 INVALID_TOML: the body is not UTF-8"
    );
    assert_eq!(
        fixture.call("POST", "/apply", "text/html", "x").await.status_and_error(),
        "400 INVALID_CONTENT_TYPE: send Content-Type: application/toml for a provision file, or application/json"
    );
    let names = ["../x", "a b", "a\u{e9}", "%00", &"x".repeat(65)];
    for name in names {
        let path =
            format!("/accounts/{}", name.replace(' ', "%20").replace('/', "%2F").replace('\u{e9}', "%C3%A9"));
        let reply = fixture.put(&path, json!({"currency": "EUR"})).await;
        assert_eq!(reply.status, 422, "{name:?}: {}", reply.text);
    }
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
}

#[tokio::test]
async fn oversized_body_is_rejected_before_it_is_buffered() {
    let fixture = ApiFixture::open().await;
    let most = 16 * 1024 * 1024;
    let comment = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
    assert_eq!(fixture.apply("/apply", &comment(most)).await.status, 200);
    let reply = fixture.apply("/apply", &comment(most + 1)).await;
    assert_eq!(reply.status_and_error(), "413 BODY_TOO_LARGE: the body has more than 16777216 bytes");
    assert_eq!(fixture.apply("/apply", &comment(40 * 1024 * 1024)).await.status, 413);
}
