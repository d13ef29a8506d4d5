//! Invalid and oversized request bodies get their documented response, and the gateway continues.

use crate::client::bearer;
use crate::fixture::{Opening, Service};
use crate::test_customers::ACME;

const MIB: usize = 1024 * 1024;

/// Returns a valid send of exactly `bytes` bytes, most of them in an ignored field.
fn padded(bytes: usize) -> Vec<u8> {
    let (head, tail) = (r#"{"to":"+4915112345678","text":"hello","padding":""#, r#""}"#);
    let padding = "x".repeat(bytes - head.len() - tail.len());
    format!("{head}{padding}{tail}").into_bytes()
}

pub(crate) fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(10_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

pub(crate) fn send_head(extra: &str) -> String {
    format!(
        "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: {}\r\nContent-Type: application/json\r\n{extra}\r\n",
        bearer(ACME)
    )
}

#[tokio::test]
async fn body_of_one_mib_is_accepted_and_one_byte_more_gets_413() {
    let service = Service::start().await;
    let mut client = service.client().await;
    for (bytes, status, code) in
        [(MIB, 202, ""), (MIB + 1, 413, "BODY_TOO_LARGE"), (3 * MIB, 413, "BODY_TOO_LARGE"), (MIB, 202, "")]
    {
        let body = padded(bytes);
        client.write(send_head(&format!("Content-Length: {bytes}\r\n"))).await;
        client.write(&body).await;
        let reply = client.read().await.unwrap();
        assert_eq!((reply.status, reply.code()), (status, code), "{bytes} bytes");
        client.write(send_head("Transfer-Encoding: chunked\r\n")).await;
        client.write(chunked(&body)).await;
        let reply = client.read().await.unwrap();
        assert_eq!((reply.status, reply.code()), (status, code), "{bytes} bytes in chunks");
    }
    service.assert_still_serving().await;
}

#[tokio::test]
async fn expect_100_continue_with_a_huge_body_gets_413() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write(send_head("Expect: 100-continue\r\nContent-Length: 99999999999\r\n")).await;
    let reply = client.read().await.unwrap();
    assert_eq!((reply.status, reply.code()), (413, "BODY_TOO_LARGE"));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn endless_body_is_cut_off() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write(send_head("Transfer-Encoding: chunked\r\n")).await;
    let chunk = chunked(&vec![b' '; MIB]);
    let chunk = &chunk[..chunk.len() - b"0\r\n\r\n".len()];
    // Far more than the gateway reads: it closes the connection.
    for _ in 0..40 {
        client.write_while_open(chunk).await;
    }
    if let Some(reply) = client.read().await {
        assert_eq!(reply.status, 413);
    }
    assert!(client.is_closed().await);
    service.assert_still_serving().await;
}

#[tokio::test]
async fn truncated_body_is_not_accepted() {
    let service = Service::start().await;
    for framing in ["Content-Length: 60\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut client = service.client().await;
        client.write(send_head(framing)).await;
        client.write("26\r\n{\"to\":\"+4915112345678\",").await;
        client.finish_writing().await;
        if let Some(reply) = client.read().await {
            assert_eq!(reply.status, 400);
        }
    }
    assert_eq!(service.balance(ACME).await, "10");
}

#[tokio::test]
async fn invalid_json_body_is_rejected_with_its_code() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let json = "INVALID_JSON";
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let long = format!(r#"{{"to":"+4915112345678","text":"{}"}}"#, "x".repeat(1_601));
    let cases: &[(&str, &[u8], &str)] = &[
        ("nothing", b"", json),
        ("white space", b" \r\n\t", json),
        ("not JSON", b"to=+4915112345678&text=hello", json),
        ("cut off", br#"{"to":"+4915112345678","text":"hel"#, json),
        ("two objects", br#"{"to":"+4915112345678","text":"a"}{"to":"+4915112345678","text":"b"}"#, json),
        ("something behind", br#"{"to":"+4915112345678","text":"hello"}]"#, json),
        ("a list", br#"[{"to":"+4915112345678","text":"hello"}]"#, json),
        ("a text", br#""hello""#, json),
        ("null", b"null", json),
        ("a byte order mark", b"\xef\xbb\xbf{\"to\":\"+4915112345678\",\"text\":\"hello\"}", json),
        ("UTF-16", b"{\0\"\0t\0o\0\"\0", json),
        ("comments", br#"{/* hello */"to":"+4915112345678","text":"hello"}"#, json),
        ("single quotes", br#"{'to':'+4915112345678','text':'hello'}"#, json),
        ("a trailing comma", br#"{"to":"+4915112345678","text":"hello",}"#, json),
        ("a line break in a text", b"{\"to\":\"+4915112345678\",\"text\":\"hel\nlo\"}", json),
        ("an unknown escape", br#"{"to":"+4915112345678","text":"\x41"}"#, json),
        ("a number beyond numbers", br#"{"to":"+4915112345678","text":"hello","x":1e999}"#, json),
        ("not a number", br#"{"to":"+4915112345678","text":"hello","x":NaN}"#, json),
        ("depth", deep.as_bytes(), json),
        ("a key twice", br#"{"to":"+4915112345678","text":"a","text":"b"}"#, json),
        ("a key twice, once escaped", br#"{"to":"+4915112345678","text":"a","te\u0078t":"b"}"#, json),
        ("an unknown key twice", br#"{"to":"+4915112345678","text":"a","x":1,"x":1}"#, json),
        ("a key twice inside", br#"{"to":"+4915112345678","text":"a","x":{"y":1,"y":1}}"#, json),
        ("not UTF-8", b"{\"to\":\"+4915112345678\",\"text\":\"\xff\"}", json),
        ("UTF-8 made too long", b"{\"to\":\"+4915112345678\",\"text\":\"\xc0\xaf\"}", json),
        ("a surrogate in UTF-8", b"{\"to\":\"+4915112345678\",\"text\":\"\xed\xa0\x80\"}", json),
        ("half a character", br#"{"to":"+4915112345678","text":"\ud83d"}"#, json),
        ("the other half", br#"{"to":"+4915112345678","text":"\ude00"}"#, json),
        ("halves in the wrong order", br#"{"to":"+4915112345678","text":"\ude00\ud83d"}"#, json),
        ("half a character in a key", br#"{"to":"+4915112345678","text":"a","\ud83d":1}"#, json),
        ("a number for text", br#"{"to":"+4915112345678","text":5}"#, json),
        ("a list for text", br#"{"to":"+4915112345678","text":["hello"]}"#, json),
        ("a number for the key", br#"{"to":"+4915112345678","text":"a","idempotency_key":5}"#, json),
        ("a number for to", br#"{"to":4915112345678,"text":"hello"}"#, "INVALID_NUMBER"),
        ("an object for to", br#"{"to":{},"text":"hello"}"#, "INVALID_NUMBER"),
        ("to without plus", br#"{"to":"4915112345678","text":"hello"}"#, "INVALID_NUMBER"),
        ("to with other digits", "{\"to\":\"+٤٩١٥١١٢٣٤٥\",\"text\":\"hello\"}".as_bytes(), "INVALID_NUMBER"),
        ("to with a null", br#"{"to":"+4915112345678\u0000","text":"hello"}"#, "INVALID_NUMBER"),
        ("a boolean for from", br#"{"to":"+4915112345678","text":"a","from":true}"#, "INVALID_SENDER"),
        ("a line break in from", br#"{"to":"+4915112345678","text":"a","from":"A\r\nB"}"#, "INVALID_SENDER"),
        ("markup in from", br#"{"to":"+4915112345678","text":"a","from":"<b>"}"#, "INVALID_SENDER"),
        ("no fields", b"{}", "MISSING_FIELD"),
        ("null for text", br#"{"to":"+4915112345678","text":null}"#, "MISSING_FIELD"),
        ("an empty to", br#"{"to":"","text":"hello"}"#, "MISSING_FIELD"),
        ("1601 characters", long.as_bytes(), "TEXT_TOO_LONG"),
    ];
    let bearer = bearer(ACME);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for (name, body, code) in cases {
        let reply = client.call("POST", "/api/v1/sms", &headers, body).await;
        assert_eq!((reply.status, reply.code()), (400, *code), "{name}: {}", reply.body);
        assert!(reply.body.len() < 300, "{name}: {}", reply.body);
    }
    assert_eq!(service.balance(ACME).await, "10");
}

#[tokio::test]
async fn hostile_headers_of_a_send_are_rejected_or_ignored() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let auth = format!("Authorization: {}\r\n", bearer(ACME));
    let json = "Content-Type: application/json\r\n";
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    let (long, longest) = ("k".repeat(256), "k".repeat(255));
    let cases: &[(&str, String, u16, &str)] = &[
        ("no content type", auth.clone(), 400, "INVALID_CONTENT_TYPE"),
        ("another", format!("{auth}Content-Type: text/json\r\n"), 400, "INVALID_CONTENT_TYPE"),
        (
            "a longer one",
            format!("{auth}Content-Type: application/json-patch+json\r\n"),
            400,
            "INVALID_CONTENT_TYPE",
        ),
        (
            "a list",
            format!("{auth}Content-Type: application/json, text/html\r\n"),
            400,
            "INVALID_CONTENT_TYPE",
        ),
        ("twice", format!("{auth}{json}{json}"), 400, "INVALID_CONTENT_TYPE"),
        ("not ASCII", format!("{auth}Content-Type: application/jsön\r\n"), 400, "INVALID_CONTENT_TYPE"),
        ("with a parameter", format!("{auth}Content-Type: Application/JSON ; charset=latin1\r\n"), 202, ""),
        ("a key too long", format!("{auth}{json}Idempotency-Key: {long}\r\n"), 400, "INVALID_FIELD"),
        ("the longest key", format!("{auth}{json}Idempotency-Key: {longest}\r\n"), 202, ""),
        (
            "two keys",
            format!("{auth}{json}Idempotency-Key: a\r\nIdempotency-Key: a\r\n"),
            400,
            "INVALID_FIELD",
        ),
        ("any characters in a key", format!("{auth}{json}Idempotency-Key: '; DROP TABLE é\r\n"), 202, ""),
        ("cookies", format!("{json}Cookie: session={}\r\n", bearer(ACME)), 401, "INVALID_API_KEY"),
        ("a key in the query alone", json.to_owned(), 401, "INVALID_API_KEY"),
        ("a proxy's credentials", format!("{json}Proxy-{auth}"), 401, "INVALID_API_KEY"),
        ("another method in a header", format!("{auth}{json}X-HTTP-Method-Override: DELETE\r\n"), 202, ""),
        ("another path in a header", format!("{auth}{json}X-Original-URL: /metrics\r\n"), 202, ""),
    ];
    for (name, headers, status, code) in cases {
        client
            .write(format!(
                "POST /api/v1/sms?api_key={ACME} HTTP/1.1\r\nHost: t\r\n{headers}Content-Length: {}\r\n\r\n{body}",
                body.len()
            ))
            .await;
        let reply = client.read().await.unwrap();
        assert_eq!((reply.status, reply.code()), (*status, *code), "{name}: {}", reply.body);
        assert!(reply.header("x-request-id").is_some() && reply.header("ratelimit").is_some(), "{name}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{name}");
    }
    service.assert_still_serving().await;
}

#[expect(clippy::disallowed_methods, reason = "bytes on a socket arrive in real time")]
async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
}

/// Begins a send of one MiB and leaves its last byte out. Returns once the gateway holds `bytes` of bodies.
async fn begin_large_send(service: &Service, bytes: u64) -> (crate::client::Client, u8) {
    let mut body = padded(MIB);
    let last = body.pop().unwrap();
    let mut client = service.client().await;
    client.write(send_head(&format!("Content-Length: {MIB}\r\n"))).await;
    client.write(&body).await;
    while service.gateway.body_memory.used() < bytes {
        pause().await;
    }
    (client, last)
}

#[tokio::test]
async fn large_bodies_over_the_memory_limit_get_503_and_small_ones_are_accepted() {
    let mib = 1024 * 1024;
    let service = Service::open(Opening { body_memory_max: 2 * mib, ..Opening::default() }).await;
    let mut held = Vec::new();
    for count in 1..=2 {
        // The first 8 KiB of a body are not counted, and the last byte is missing.
        held.push(begin_large_send(&service, count * (mib - 8 * 1024 - 1)).await);
    }
    let reply = service.client().await.send(ACME, &[], &String::from_utf8(padded(MIB)).unwrap()).await;
    assert_eq!((reply.status, reply.code()), (503, "GATEWAY_UNAVAILABLE"), "{}", reply.body);
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(service.send(ACME, &[], r#"{"to":"+4915112345678","text":"hello"}"#).await.status, 202);
    for (mut client, last) in held {
        client.write([last]).await;
        assert_eq!(client.read().await.unwrap().status, 202, "a body that has begun is accepted");
    }
    let reply = service.client().await.send(ACME, &[], &String::from_utf8(padded(MIB)).unwrap()).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    while service.gateway.body_memory.used() > 0 {
        pause().await;
    }
}

#[tokio::test]
async fn public_pages_answer_get_and_head_only_and_hold_no_body() {
    let service = Service::start().await;
    for path in ["/docs", "/openapi.json", "/healthz", "/readyz", "/metrics"] {
        let mut client = service.client().await;
        client.write(format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {MIB}\r\n\r\n")).await;
        client.write(vec![b'x'; MIB - 1]).await;
        assert_eq!(service.gateway.body_memory.used(), 0, "{path}");
        client.write("x").await;
        let reply = client.read().await.unwrap();
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
}
