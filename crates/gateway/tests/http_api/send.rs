//! `POST /sms`: accepted and rejected messages and their responses.

use crate::client::bearer;
use crate::fixture::Service;
use crate::test_customers::{ACME, POOR, POSTPAID, SLOW, UNVERIFIED};

const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;

#[tokio::test]
async fn accepted_message_has_the_documented_response_fields() {
    let service = Service::start().await;
    let reply =
        service.send(ACME, &[], r#"{"to":"+4915112345678","from":"A&B - c_d.","text":"hello"}"#).await;
    assert_eq!(reply.status, 202);
    let id = reply.field("message_id");
    assert!((10..=18).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    assert_eq!(
        reply.body,
        format!(
            r#"{{"message_id":"{id}","status":"queued","to":"+4915112345678","from":"A&B - c_d.","charged":true,"cost":0.065,"balance":9.935}}"#
        )
    );
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "no-store"),
        ("x-sms-parts", "1"),
        ("x-sms-encoding", "gsm7"),
        ("x-ratelimit-limit", "1000"),
        ("x-ratelimit-remaining", "999"),
        ("ratelimit", r#""connection";r=999;t=1"#),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    assert_eq!(reply.header("x-error-code"), None);
    assert_eq!(reply.header("idempotency-mismatch"), None);
}

#[tokio::test]
async fn parts_are_counted_and_charged() {
    let service = Service::start().await;
    let cases = [
        ("a".repeat(160), "1", "gsm7", "0.065"),
        ("a".repeat(161), "2", "gsm7", "0.13"),
        ("a".repeat(1600), "11", "gsm7", "0.715"),
        ("ы".repeat(70), "1", "ucs2", "0.065"),
        ("ы".repeat(71), "2", "ucs2", "0.13"),
        ("ы".repeat(1600), "24", "ucs2", "1.56"),
    ];
    for (text, parts, encoding, cost) in cases {
        let body = format!(r#"{{"to":"+4915112345678","text":"{text}"}}"#);
        let reply = service.send(ACME, &[], &body).await;
        assert_eq!(reply.status, 202, "{}", reply.body);
        assert_eq!(reply.header("x-sms-parts"), Some(parts));
        assert_eq!(reply.header("x-sms-encoding"), Some(encoding));
        assert!(reply.body.contains(&format!(r#""cost":{cost},"#)), "{}", reply.body);
    }
    assert_eq!(service.balance(ACME).await, "7.335");
}

#[tokio::test]
async fn missing_sender_is_replaced_by_the_default_sender() {
    let service = Service::start().await;
    for from in ["", r#","from":null"#, r#","from":"""#] {
        let body = format!(r#"{{"to":"+4915112345678","text":"hello"{from}}}"#);
        assert_eq!(service.send(ACME, &[], &body).await.field("from"), "Acme", "{body}");
    }
    let reply = service.send(SLOW, &[], SEND).await;
    assert_eq!((reply.status, reply.code()), (400, "INVALID_SENDER"));
    assert!(reply.body.contains("no default sender"), "{}", reply.body);
}

#[tokio::test]
async fn each_rejection_has_its_status_and_code_and_is_not_charged() {
    let service = Service::start().await;
    let long = format!(r#"{{"to":"+4915112345678","text":"{}"}}"#, "a".repeat(1601));
    let two_parts = format!(r#"{{"to":"+4915112345678","from":"Acme","text":"{}"}}"#, "a".repeat(161));
    let cases: &[(&str, &str, &str, u16, &str)] = &[
        ("no body", ACME, "", 400, "INVALID_JSON"),
        ("not json", ACME, "to=+4915112345678", 400, "INVALID_JSON"),
        ("an array", ACME, "[]", 400, "INVALID_JSON"),
        ("key twice", ACME, r#"{"to":"+4915112345678","text":"a","text":"b"}"#, 400, "INVALID_JSON"),
        ("lone surrogate", ACME, r#"{"to":"+4915112345678","text":"\ud83d"}"#, 400, "INVALID_JSON"),
        ("garbage behind", ACME, r#"{"to":"+4915112345678","text":"a"} x"#, 400, "INVALID_JSON"),
        ("text not a string", ACME, r#"{"to":"+4915112345678","text":5}"#, 400, "INVALID_JSON"),
        ("no to", ACME, r#"{"text":"a"}"#, 400, "MISSING_FIELD"),
        ("empty to", ACME, r#"{"to":"","text":"a"}"#, 400, "MISSING_FIELD"),
        ("no text", ACME, r#"{"to":"+4915112345678"}"#, 400, "MISSING_FIELD"),
        ("empty text", ACME, r#"{"to":"+4915112345678","text":""}"#, 400, "MISSING_FIELD"),
        ("to as a number", ACME, r#"{"to":4915112345678,"text":"a"}"#, 400, "INVALID_NUMBER"),
        ("to without plus", ACME, r#"{"to":"4915112345678","text":"a"}"#, 400, "INVALID_NUMBER"),
        ("to with zero", ACME, r#"{"to":"+04915112345","text":"a"}"#, 400, "INVALID_NUMBER"),
        ("to too short", ACME, r#"{"to":"+491511","text":"a"}"#, 400, "INVALID_NUMBER"),
        ("to too long", ACME, r#"{"to":"+4915112345678901","text":"a"}"#, 400, "INVALID_NUMBER"),
        (
            "long sender",
            ACME,
            r#"{"to":"+4915112345678","from":"TwelveLetter","text":"a"}"#,
            400,
            "INVALID_SENDER",
        ),
        ("odd sender", ACME, r#"{"to":"+4915112345678","from":"Acme!","text":"a"}"#, 400, "INVALID_SENDER"),
        ("sender a number", ACME, r#"{"to":"+4915112345678","from":5,"text":"a"}"#, 400, "INVALID_SENDER"),
        ("1601 characters", ACME, &long, 400, "TEXT_TOO_LONG"),
        ("max_parts", SLOW, &two_parts, 400, "TEXT_TOO_LONG"),
        ("not verified", UNVERIFIED, SEND, 403, "VERIFICATION_REQUIRED"),
        (
            "strange sender",
            ACME,
            r#"{"to":"+4915112345678","from":"Other","text":"a"}"#,
            403,
            "SENDER_NOT_APPROVED",
        ),
        ("no price", ACME, r#"{"to":"+33612345678","text":"a"}"#, 422, "NO_PRICE"),
        ("no route", ACME, r#"{"to":"+447700900123","text":"a"}"#, 422, "NO_ROUTE"),
        ("unknown country", ACME, r#"{"to":"+9991234567","text":"a"}"#, 422, "NO_ROUTE"),
    ];
    for (name, key, body, status, code) in cases {
        let reply = service.send(key, &[], body).await;
        assert_eq!((reply.status, reply.code()), (*status, *code), "{name}: {}", reply.body);
        assert_eq!(reply.header("retry-after"), None, "{name}");
        assert!(reply.header("x-ratelimit-remaining").is_some(), "{name}");
    }
    assert_eq!(service.balance(ACME).await, "10");
    assert_eq!(service.balance(UNVERIFIED).await, "10");
}

#[tokio::test]
async fn content_type_must_be_json() {
    let service = Service::start().await;
    let cases: &[(&[&str], u16)] = &[
        (&["application/json"], 202),
        (&["Application/JSON"], 202),
        (&["application/json; charset=utf-8"], 202),
        (&["application/json ;charset=UTF-8;x=y"], 202),
        (&[], 400),
        (&[""], 400),
        (&["text/plain"], 400),
        (&["application/json5"], 400),
        (&["application/x-www-form-urlencoded"], 400),
        (&["application/json", "text/plain"], 400),
    ];
    let bearer = bearer(ACME);
    for (types, status) in cases {
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(types.iter().map(|value| ("Content-Type", *value)));
        let reply = service.client().await.call("POST", "/api/v1/sms", &headers, SEND.as_bytes()).await;
        assert_eq!(reply.status, *status, "{types:?}");
        assert_eq!(reply.code(), if *status == 400 { "INVALID_CONTENT_TYPE" } else { "" }, "{types:?}");
    }
}

#[tokio::test]
async fn message_over_the_available_credit_gets_402() {
    let service = Service::start().await;
    // Balance 0.1 with a minimum of 0.02: one message at 0.065 is accepted, the next is not.
    assert_eq!(service.send(POOR, &[], SEND).await.status, 202);
    let reply = service.send(POOR, &[], SEND).await;
    assert_eq!((reply.status, reply.code()), (402, "INSUFFICIENT_CREDIT"));
    assert_eq!(service.balance(POOR).await, "0.035");
    // Messages to free destinations are accepted with any balance.
    assert_eq!(service.send(POOR, &[], r#"{"to":"+12025550123","text":"a"}"#).await.status, 202);
    // Postpaid: below zero down to the credit limit. 76 messages of one part cost 4.94.
    let mut client = service.client().await;
    for _ in 0..76 {
        assert_eq!(client.send(POSTPAID, &[], SEND).await.status, 202);
    }
    assert_eq!(client.send(POSTPAID, &[], SEND).await.status, 402);
    assert_eq!(service.balance(POSTPAID).await, "-4.94");
}

#[tokio::test]
async fn concurrent_sends_against_a_small_balance_accept_exactly_what_it_covers() {
    let service = Service::start().await;
    // 10 pays for 153 messages at 0.065.
    let sends = (0..8).map(|_| async {
        let mut client = service.client().await;
        let mut accepted = 0;
        for _ in 0..25 {
            let reply = client.send(ACME, &[], SEND).await;
            assert!(matches!(reply.status, 202 | 402), "{}", reply.body);
            accepted += usize::from(reply.status == 202);
        }
        accepted
    });
    let accepted: usize = join_all(sends).await.into_iter().sum();
    assert_eq!(accepted, 153);
    assert_eq!(service.balance(ACME).await, "0.055");
}

#[tokio::test]
async fn draining_gateway_rejects_new_messages_and_answers_replays() {
    let service = Service::start().await;
    let first = service.send(ACME, &[("Idempotency-Key", "k")], SEND).await;
    service.gateway.start_draining();
    let reply = service.send(ACME, &[], SEND).await;
    assert_eq!((reply.status, reply.code()), (503, "GATEWAY_UNAVAILABLE"));
    assert_eq!(reply.header("retry-after"), Some("5"));
    let again = service.send(ACME, &[("Idempotency-Key", "k")], SEND).await;
    assert_eq!((again.status, again.field("message_id")), (200, first.field("message_id")));
    assert_eq!(service.balance(ACME).await, "9.935");
}

/// Polls all futures together and returns their outputs in order.
pub(crate) async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (future, output) in &mut waiting {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    waiting.into_iter().map(|(_, output)| output.unwrap()).collect()
}
