//! Request smuggling and invalid heads. A proxy in front of the gateway must agree
//! with it on where a request ends, so an ambiguous request is rejected and its connection closed.

use crate::client::{bearer, request};
use crate::fixture::Service;
use crate::hostile_bodies::{chunked, send_head};
use crate::test_customers::ACME;

/// (name, framing, body, status). `TE`, `BODY` and `CHUNKS` are placeholders; after the body a
/// second request follows.
const ATTEMPTS: &[(&str, &str, &str, u16)] = &[
    ("length, then chunked", "Content-Length: 0\r\nTE", "CHUNKS", 400),
    ("chunked, then length", "TEContent-Length: 0\r\n", "CHUNKS", 400),
    ("chunked, then the length of the body", "TEContent-Length: 38\r\n", "CHUNKS", 400),
    ("chunked hidden by length", "Content-Length: 38\r\nTE", "0\r\n\r\n", 400),
    ("two lengths", "Content-Length: 38\r\nContent-Length: 5\r\n", "BODY", 400),
    ("two lengths in one line", "Content-Length: 38, 5\r\n", "BODY", 400),
    ("signed length", "Content-Length: +5\r\n", "BODY", 400),
    ("negative length", "Content-Length: -5\r\n", "BODY", 400),
    ("length in hex", "Content-Length: 0x26\r\n", "BODY", 400),
    ("length with a fraction", "Content-Length: 38.0\r\n", "BODY", 400),
    ("length beyond numbers", "Content-Length: 99999999999999999999999\r\n", "BODY", 400),
    ("empty length", "Content-Length: \r\n", "BODY", 400),
    ("chunked is not last", "Transfer-Encoding: chunked, identity\r\n", "CHUNKS", 400),
    ("chunked is not alone", "Transfer-Encoding: gzip, chunked\r\n", "CHUNKS", 400),
    ("chunked twice", "Transfer-Encoding: chunked, chunked\r\n", "CHUNKS", 400),
    ("chunked in two lines", "TETE", "CHUNKS", 400),
    ("identity, then chunked", "Transfer-Encoding: identity\r\nTE", "CHUNKS", 400),
    ("chunked, then identity", "TETransfer-Encoding: identity\r\n", "CHUNKS", 400),
    ("identity alone", "Transfer-Encoding: identity\r\nContent-Length: 38\r\n", "BODY", 400),
    ("chunked with a parameter", "Transfer-Encoding: chunked;q=1\r\n", "CHUNKS", 400),
    ("chunked after a vertical tab", "Transfer-Encoding: \x0bchunked\r\n", "CHUNKS", 400),
    ("unknown coding", "Transfer-Encoding: xchunked\r\n", "CHUNKS", 400),
    ("no coding", "Transfer-Encoding: \r\n", "CHUNKS", 400),
    ("space before colon", "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n", "CHUNKS", 400),
    ("folded header", "X: y\r\n TEContent-Length: 0\r\n", "CHUNKS", 400),
    ("bare carriage return", "X: y\rTEContent-Length: 0\r\n", "CHUNKS", 400),
    ("null in a header", "X: y\0z\r\nContent-Length: 0\r\n", "", 400),
    ("space in a header's name", "X Y: z\r\nContent-Length: 0\r\n", "", 400),
    ("a header without a colon", "Content-Length: 0\r\nGET / HTTP/1.1\r\n", "", 400),
    ("a header without a name", ": y\r\nContent-Length: 0\r\n", "", 400),
    ("two hosts", "Host: elsewhere\r\nContent-Length: 38\r\n", "BODY", 400),
    ("broken chunk size", "TE", "zz\r\nBODY\r\n0\r\n\r\n", 400),
    ("huge chunk size", "TE", "fffffffffffffffff\r\nBODY\r\n0\r\n\r\n", 400),
    ("negative chunk size", "TE", "-26\r\nBODY\r\n0\r\n\r\n", 400),
    ("chunk size in 0x", "TE", "0x26\r\nBODY\r\n0\r\n\r\n", 400),
    ("LF alone ends a chunk's size", "TE", "26\nBODY\r\n0\r\n\r\n", 400),
    ("LF alone ends a chunk", "TE", "26\r\nBODY\n0\r\n\r\n", 400),
    ("a chunk longer than it says", "TE", "25\r\nBODY\r\n0\r\n\r\n", 400),
    ("LF in a trailer's name", "TE", "26\r\nBODY\r\n0\r\nX\nY: z\r\n\r\n", 400),
];

#[tokio::test]
async fn ambiguous_framing_is_rejected_and_closes_the_connection() {
    let service = Service::start().await;
    let hidden = request("GET", "/api/v1/balance", &[("Authorization", &bearer(ACME))], b"");
    let hidden = String::from_utf8(hidden).unwrap();
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    let in_chunks = String::from_utf8(chunked(body.as_bytes())).unwrap();
    for (name, framing, content, status) in ATTEMPTS {
        let framing = framing.replace("TE", "Transfer-Encoding: chunked\r\n");
        let content = content.replace("CHUNKS", &in_chunks).replace("BODY", body);
        let mut client = service.client().await;
        client.write(format!("{}{content}{hidden}", send_head(&framing))).await;
        let reply = client.read().await;
        assert_eq!(reply.map(|reply| reply.status), Some(*status), "{name}");
        assert!(
            client.is_closed().await,
            "{name}: there was a second response, or the connection stayed open"
        );
    }
    service.assert_still_serving().await;
}

#[tokio::test]
async fn huge_chunk_extensions_and_trailers_are_rejected() {
    let service = Service::start().await;
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    let extension = format!("26;{}\r\n{body}\r\n0\r\n\r\n", "x".repeat(1 << 20));
    let trailers = format!("26\r\n{body}\r\n0\r\n{}\r\n", "X: y\r\n".repeat(1 << 18));
    for (name, body) in [("extension", extension), ("trailers", trailers)] {
        let mut client = service.client().await;
        client.write(send_head("Transfer-Encoding: chunked\r\n")).await;
        client.write_while_open(body.as_bytes()).await;
        // The connection may be reset before the response is read, because bytes are unread.
        if let Some(reply) = client.read().await {
            assert_eq!((reply.status, reply.code()), (400, "INVALID_JSON"), "{name}");
        }
        assert!(client.is_closed().await, "{name}");
    }
    assert_eq!(service.balance(ACME).await, "10");
}

#[tokio::test]
async fn request_without_exactly_one_host_gets_400_and_closes_the_connection() {
    let service = Service::start().await;
    for head in ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nHost: b\r\n"] {
        let mut client = service.client().await;
        client
            .write(format!("GET /healthz HTTP/1.1\r\n{head}\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"))
            .await;
        let reply = client.read().await.unwrap();
        assert_eq!((reply.status, reply.code()), (400, "INVALID_FIELD"), "{head}");
        assert_eq!(reply.header("connection"), Some("close"), "{head}");
        assert!(client.is_closed().await, "{head}");
    }
}

#[tokio::test]
async fn invalid_heads_are_rejected() {
    let service = Service::start().await;
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let cases: &[(&str, Vec<u8>, &[u16])] = &[
        ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), &[400]),
        ("http/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), &[400]),
        (
            "a proxy header where no proxy is known",
            b"PROXY TCP4 203.0.113.5 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(),
            &[400],
        ),
        (
            "a proxy header of version 2",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xcb\0\x71\x05\xc0\0\x02\x01\0\x01\0\x02GET / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(),
            &[400],
        ),
        ("no version", b"GET /api/v1/balance\r\n\r\n".to_vec(), &[400]),
        (
            "a huge header",
            format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(100_000)).into_bytes(),
            &[431],
        ),
        ("a huge path", format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(100_000)).into_bytes(), &[414, 431]),
        ("200 headers", format!("GET / HTTP/1.1\r\n{many}\r\n").into_bytes(), &[431]),
        ("not ascii", b"GET / HTTP/1.1\r\nX\xff: y\r\n\r\n".to_vec(), &[400]),
        ("null in the path", b"GET /\0 HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        ("space in the path", b"GET / / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        ("an older version", b"GET / HTTP/0.9\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        ("a later version", b"GET / HTTP/1.2\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        ("no method", b" / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        ("brackets in the method", b"G<ET> / HTTP/1.1\r\nHost: t\r\n\r\n".to_vec(), &[400]),
        (
            "a tunnel",
            b"CONNECT example.com:443 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".to_vec(),
            &[404],
        ),
    ];
    for (name, bytes, statuses) in cases {
        let mut client = service.client().await;
        client.write_while_open(bytes).await;
        // The connection may be reset before the response is read, because bytes are unread.
        if let Some(reply) = client.read().await {
            assert!(statuses.contains(&reply.status), "{name}: {}", reply.status);
        }
        assert!(client.is_closed().await, "{name}");
    }
    service.assert_still_serving().await;
}

#[tokio::test]
async fn unusual_but_valid_requests_are_served() {
    let service = Service::start().await;
    let bearer = bearer(ACME);
    let mut client = service.client().await;
    client
        .write(format!(
            "GET http://elsewhere/api/v1/balance HTTP/1.1\r\nHost: t\r\nAuthorization: {bearer}\r\n\r\n"
        ))
        .await;
    assert_eq!(client.read().await.unwrap().status, 200);
    // One byte at a time.
    let mut client = service.client().await;
    for byte in request("GET", "/api/v1/balance", &[("Authorization", &bearer)], b"") {
        client.write([byte]).await;
    }
    assert_eq!(client.read().await.unwrap().status, 200);
    // RFC 9112 section 2.2: an empty line before a request, and lines that end in LF alone.
    let mut client = service.client().await;
    client.write(format!("\r\nGET /api/v1/balance HTTP/1.1\nHost: t\nAuthorization: {bearer}\n\n")).await;
    assert_eq!(client.read().await.unwrap().status, 200);
    // Unknown headers are ignored.
    let odd =
        "Expect: the-unexpected\r\nConnection: upgrade\r\nUpgrade: h2c\r\nCookie: session=1\r\nTE: gzip\r\n";
    client
        .write(format!("GET /api/v1/balance HTTP/1.1\r\nHost:\r\n{odd}Authorization: {bearer}\r\n\r\n"))
        .await;
    assert_eq!(client.read().await.unwrap().status, 200);
    // HTTP/1.0 closes after its response.
    let mut client = service.client().await;
    client.write(format!("GET /api/v1/balance HTTP/1.0\r\nAuthorization: {bearer}\r\n\r\n")).await;
    assert_eq!(client.read().await.unwrap().status, 200);
    assert!(client.is_closed().await);
    // Chunks with extensions, in a mixed case, followed by trailers.
    let mut client = service.client().await;
    let sends =
        "5;a=b\r\n{\"to\"\r\n021 ;c\r\n:\"+4915112345678\",\"text\":\"hello\"}\r\n0\r\nX-After: y\r\n\r\n";
    for coding in ["chunked", "CHUNKED", "  Chunked\t"] {
        client.write(format!("{}{sends}", send_head(&format!("Transfer-Encoding: {coding}\r\n")))).await;
        assert_eq!(client.read().await.unwrap().status, 202, "{coding}");
    }
    // Two equal lengths are accepted.
    client.write(send_head("Content-Length: 2\r\nContent-Length: 2\r\n") + "{}").await;
    assert_eq!(client.read().await.unwrap().code(), "MISSING_FIELD");
    // A GET with a body.
    let mut client = service.client().await;
    let reply =
        client.call("GET", "/api/v1/balance", &[("Authorization", &bearer)], &vec![b'x'; 100_000]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}

#[tokio::test]
async fn unusual_methods_and_targets_get_their_status_and_keep_the_connection() {
    let service = Service::start().await;
    let bearer = bearer(ACME);
    let long = format!("/api/v1/inbound?{}", "&x=%zz".repeat(4_000));
    let cases: &[(&str, &str, u16)] = &[
        ("OPTIONS", "*", 404),
        ("OPTIONS", "/api/v1/sms", 405),
        ("TRACE", "/api/v1/balance", 405),
        ("HEAD", "/api/v1/sms", 405),
        ("HEAD", "/api/v1/balance", 200),
        ("HEAD", "/api/v1/inbound", 200),
        ("HEAD", "/api/v1/sms/1", 404),
        ("HEAD", "/nowhere", 404),
        ("HEAD", "/healthz", 200),
        ("GET", "/api/v1/sms/", 404),
        ("GET", "/api/v1/balance/", 404),
        ("GET", "/api/v1/sms/1/", 404),
        ("GET", "/api/v1/sms/1%2f2", 404),
        ("GET", "/api/v1/sms/%2e%2e", 404),
        ("GET", "/api/v1/sms/../balance", 404),
        ("GET", "//api/v1/balance", 404),
        ("GET", "/api/v1/BALANCE", 404),
        ("GET", "/api/v1/sms/%ff%00%0d%0a", 404),
        ("GET", "/api/v1/balance?%0d%0aX: y", 400),
        ("GET", "/api/v1/balance?x#y", 200),
        ("GET", &long, 200),
    ];
    for (method, target, status) in cases {
        let mut client = service.client().await;
        client.write(request(method, target, &[("Authorization", &bearer)], b"")).await;
        let reply = client.read_response_to(method).await.unwrap();
        assert_eq!(reply.status, *status, "{method} {target}");
        if *status != 400 {
            assert!(reply.header("x-request-id").is_some(), "{method} {target}");
            assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200, "after {method} {target}");
        }
    }
}
