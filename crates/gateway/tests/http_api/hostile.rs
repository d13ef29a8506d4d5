//! Requests nobody sends in good faith. Each gets an answer or a closed connection, and the next customer is served.

use crate::client::{bearer, request};
use crate::customers::ACME;
use crate::service::Service;

const MIB: usize = 1024 * 1024;

/// A valid send of exactly so many bytes, most of them in a field we ignore.
fn padded(bytes: usize) -> Vec<u8> {
    let (head, tail) = (r#"{"to":"+4915112345678","text":"hello","padding":""#, r#""}"#);
    let padding = "x".repeat(bytes - head.len() - tail.len());
    format!("{head}{padding}{tail}").into_bytes()
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(10_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

fn send_head(extra: &str) -> String {
    format!(
        "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: {}\r\nContent-Type: application/json\r\n{extra}\r\n",
        bearer(ACME)
    )
}

#[tokio::test]
async fn a_body_of_one_mib_is_read_and_one_byte_more_is_413() {
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
    service.still_serves().await;
}

#[tokio::test]
async fn whoever_asks_before_sending_a_huge_body_is_told_not_to() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write(send_head("Expect: 100-continue\r\nContent-Length: 99999999999\r\n")).await;
    let reply = client.read().await.unwrap();
    assert_eq!((reply.status, reply.code()), (413, "BODY_TOO_LARGE"));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write(send_head("Transfer-Encoding: chunked\r\n")).await;
    let chunk = chunked(&vec![b' '; MIB]);
    let chunk = &chunk[..chunk.len() - b"0\r\n\r\n".len()];
    // Far more than is ever read: at some point the other side stops listening.
    for _ in 0..40 {
        client.write_while_open(chunk).await;
    }
    if let Some(reply) = client.read().await {
        assert_eq!(reply.status, 413);
    }
    assert!(client.is_closed().await);
    service.still_serves().await;
}

#[tokio::test]
async fn a_body_that_is_cut_short_is_not_a_send() {
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
async fn no_request_hides_in_the_body_of_another() {
    let service = Service::start().await;
    let hidden =
        String::from_utf8(request("GET", "/api/v1/balance", &[("Authorization", &bearer(ACME))], b""))
            .unwrap();
    let body = r#"{"to":"+4915112345678","text":"hello"}"#;
    let in_chunks = String::from_utf8(chunked(body.as_bytes())).unwrap();
    let one_length = format!("Content-Length: {}\r\n", body.len());
    let zero = "Content-Length: 0\r\n";
    let te = "Transfer-Encoding: chunked\r\n";
    let cases: &[(&str, String, String, u16)] = &[
        // RFC 9112 section 6.1: the chunks count, and the connection ends after the answer.
        ("length, then chunked", format!("{zero}{te}"), format!("{in_chunks}{hidden}"), 202),
        ("chunked, then length", format!("{te}{zero}"), format!("{in_chunks}{hidden}"), 202),
        ("chunked hidden by length", format!("{one_length}{te}"), format!("0\r\n\r\n{hidden}"), 400),
        ("two lengths", format!("{one_length}Content-Length: 5\r\n"), format!("{body}{hidden}"), 400),
        (
            "two lengths in one line",
            format!("Content-Length: {}, 5\r\n", body.len()),
            format!("{body}{hidden}"),
            400,
        ),
        ("signed length", "Content-Length: +5\r\n".to_owned(), format!("{body}{hidden}"), 400),
        ("negative length", "Content-Length: -5\r\n".to_owned(), format!("{body}{hidden}"), 400),
        (
            "chunked is not last",
            "Transfer-Encoding: chunked, identity\r\n".to_owned(),
            format!("{in_chunks}{hidden}"),
            400,
        ),
        ("unknown coding", "Transfer-Encoding: xchunked\r\n".to_owned(), format!("{in_chunks}{hidden}"), 400),
        (
            "space before colon",
            format!("Transfer-Encoding : chunked\r\n{zero}"),
            format!("{in_chunks}{hidden}"),
            400,
        ),
        ("folded header", format!("X: y\r\n {te}{zero}"), format!("{in_chunks}{hidden}"), 400),
        (
            "bare carriage return",
            format!("X: y\rTransfer-Encoding: chunked\r\n{zero}"),
            format!("{in_chunks}{hidden}"),
            400,
        ),
        ("null in a header", format!("X: y\0z\r\n{zero}"), hidden.clone(), 400),
        ("broken chunk size", te.to_owned(), format!("zz\r\n{body}\r\n0\r\n\r\n{hidden}"), 400),
        ("huge chunk size", te.to_owned(), format!("fffffffffffffffff\r\n{body}\r\n0\r\n\r\n{hidden}"), 400),
    ];
    for (name, framing, body, status) in cases {
        let mut client = service.client().await;
        client.write(format!("{}{body}", send_head(framing))).await;
        let reply = client.read().await;
        assert_eq!(reply.map(|reply| reply.status), Some(*status), "{name}");
        assert!(client.is_closed().await, "{name}: more was answered, or the connection stayed open");
    }
    service.still_serves().await;
}

#[tokio::test]
async fn hostile_heads_are_refused() {
    let service = Service::start().await;
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let cases: &[(&str, Vec<u8>, &[u16])] = &[
        ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), &[400]),
        ("http/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), &[400]),
        ("no version", b"GET /api/v1/balance\r\n\r\n".to_vec(), &[400]),
        (
            "a huge header",
            format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(100_000)).into_bytes(),
            &[431],
        ),
        ("a huge path", format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(100_000)).into_bytes(), &[414, 431]),
        ("200 headers", format!("GET / HTTP/1.1\r\n{many}\r\n").into_bytes(), &[431]),
        ("not ascii", b"GET / HTTP/1.1\r\nX\xff: y\r\n\r\n".to_vec(), &[400]),
    ];
    for (name, bytes, statuses) in cases {
        let mut client = service.client().await;
        client.write_while_open(bytes).await;
        // A connection that was closed under unread bytes may be reset before the answer is seen.
        if let Some(reply) = client.read().await {
            assert!(statuses.contains(&reply.status), "{name}: {}", reply.status);
        }
        assert!(client.is_closed().await, "{name}");
    }
    service.still_serves().await;
}

#[tokio::test]
async fn odd_but_valid_requests_are_served() {
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
    // HTTP/1.0 ends after its answer.
    let mut client = service.client().await;
    client.write(format!("GET /api/v1/balance HTTP/1.0\r\nAuthorization: {bearer}\r\n\r\n")).await;
    assert_eq!(client.read().await.unwrap().status, 200);
    assert!(client.is_closed().await);
    // A body nobody asked for.
    let mut client = service.client().await;
    let reply =
        client.call("GET", "/api/v1/balance", &[("Authorization", &bearer)], &vec![b'x'; 100_000]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}
