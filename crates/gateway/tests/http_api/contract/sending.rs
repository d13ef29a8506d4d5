//! Decisions about sending where the contract is silent, one test each.

use super::fixture::{ACME, Service, raw_field, status_and_code};
use crate::client::Reply;
use hermod_domain::phone::Msisdn;
use hermod_store::OptOut;
use serde_json::json;

const DE: &str = "+4915112345678";

async fn body(service: &Service, key: &str, body: serde_json::Value) -> Reply {
    service.send(key, &[], &body.to_string()).await
}

#[tokio::test]
async fn missing_null_or_empty_from_is_the_connections_default_sender() {
    let service = Service::start().await;
    for from in [json!({}), json!({ "from": null }), json!({ "from": "" })] {
        let mut request = json!({ "to": DE, "text": "hello" });
        request.as_object_mut().unwrap().extend(from.as_object().unwrap().clone());
        let reply = body(&service, ACME, request.clone()).await;
        assert_eq!((reply.status, reply.field("from")), (202, "Acme".to_owned()), "{request}");
        let reply = body(&service, "nosender", request).await;
        assert_eq!(status_and_code(&reply), (400, "INVALID_SENDER"));
        assert!(reply.body.contains("no default sender"), "{}", reply.body);
    }
}

#[tokio::test]
async fn to_without_a_plus_and_7_to_15_digits_is_rejected_with_400() {
    let service = Service::start().await;
    for to in ["+1234567", "+123456789012345"] {
        assert_ne!(service.sms(ACME, to, "hello").await.status, 400, "{to}");
    }
    for to in [
        "+123456",
        "+1234567890123456",
        "4915112345678",
        "+0915112345678",
        "+49 15112345678",
        "+49151x",
        "00491511234567",
    ] {
        assert_eq!(status_and_code(&service.sms(ACME, to, "hello").await), (400, "INVALID_NUMBER"), "{to}");
    }
    let number = body(&service, ACME, json!({ "to": 4_915_112_345_678_u64, "text": "hello" })).await;
    assert_eq!(status_and_code(&number), (400, "INVALID_NUMBER"), "a JSON number");
    assert_eq!(
        status_and_code(&service.sms(ACME, "+9991234567", "hello").await),
        (422, "NO_ROUTE"),
        "an unknown country code"
    );
    for request in [json!({ "text": "a" }), json!({ "to": "", "text": "a" }), json!({ "to": DE, "text": "" })]
    {
        assert_eq!(body(&service, ACME, request.clone()).await.status, 400, "{request}");
    }
}

#[tokio::test]
async fn text_limit_counts_characters_and_charging_counts_parts() {
    let service = Service::start().await;
    let gsm = service.sms(ACME, DE, &"a".repeat(1600)).await;
    assert_eq!(
        (gsm.status, gsm.header("x-sms-parts"), raw_field(&gsm.body, "cost")),
        (202, Some("11"), "0.55".to_owned())
    );
    let ucs2 = service.sms(ACME, DE, &"\u{436}".repeat(1600)).await;
    assert_eq!(
        (ucs2.status, ucs2.header("x-sms-parts"), raw_field(&ucs2.body, "cost")),
        (202, Some("24"), "1.2".to_owned())
    );
    assert_eq!(status_and_code(&service.sms(ACME, DE, &"a".repeat(1601)).await), (400, "TEXT_TOO_LONG"));
    assert_eq!(service.sms("guarded", DE, &"a".repeat(306)).await.status, 202, "two parts");
    assert_eq!(
        status_and_code(&service.sms("guarded", DE, &"a".repeat(307)).await),
        (400, "TEXT_TOO_LONG"),
        "max_parts"
    );
}

#[tokio::test]
async fn split_keeps_escapes_and_surrogate_pairs_whole() {
    let service = Service::start().await;
    for (text, parts) in [
        ("a".repeat(160), "1"),
        ("a".repeat(161), "2"),
        (format!("{}\u{20ac}", "a".repeat(159)), "2"),
        (format!("{}\u{20ac}{}", "a".repeat(152), "a".repeat(151)), "2"),
        (format!("{}\u{20ac}{}", "a".repeat(152), "a".repeat(152)), "3"),
        ("\u{436}".repeat(70), "1"),
        ("\u{436}".repeat(71), "2"),
        (format!("{}\u{1f600}{}", "\u{436}".repeat(66), "\u{436}".repeat(66)), "3"),
    ] {
        let reply = service.sms(ACME, DE, &text).await;
        assert_eq!(reply.header("x-sms-parts"), Some(parts), "{} characters", text.chars().count());
    }
}

#[tokio::test]
async fn sender_with_characters_outside_the_contract_is_rejected() {
    let service = Service::start().await;
    for from in ["A", "ElevenChars", "A&B - c_d.", "+123", "123", "123456789012345"] {
        assert_ne!(service.sms_from(ACME, from).await.status, 400, "{from}");
    }
    for from in [" ", "-_.", "TwelveLetter", "a+b", "12", "+1234567890123456", "\u{e9}", "a\nb"] {
        assert_eq!(status_and_code(&service.sms_from(ACME, from).await), (400, "INVALID_SENDER"), "{from:?}");
    }
}

#[tokio::test]
async fn unknown_json_fields_are_ignored_and_invalid_json_is_rejected_with_400() {
    let service = Service::start().await;
    let extra = body(&service, ACME, json!({ "to": DE, "text": "hello", "campaign": { "a": [1] } })).await;
    assert_eq!(extra.status, 202);
    for text in [
        r#"{"to":"+4915112345678","to":"+4915112345678","text":"a"}"#,
        r#"{"to":"+4915112345678","text":"\ud800"}"#,
        r#"{"to":"+4915112345678","text":"a"} x"#,
    ] {
        assert_eq!(status_and_code(&service.send(ACME, &[], text).await), (400, "INVALID_JSON"), "{text}");
    }
    assert_eq!(body(&service, ACME, json!({ "to": DE, "text": 5 })).await.status, 400);
    let mut client = service.client().await;
    let bearer = crate::client::bearer(ACME);
    let bad_utf8 = [b"{\"to\":\"+4915112345678\",\"text\":\"".as_slice(), &[0xff], b"\"}"].concat();
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    assert_eq!(
        status_and_code(&client.call("POST", "/api/v1/sms", &headers, &bad_utf8).await),
        (400, "INVALID_JSON")
    );
    for headers in [&headers[..1], &[headers[0], ("Content-Type", "text/plain")]] {
        let reply =
            client.call("POST", "/api/v1/sms", headers, br#"{"to":"+4915112345678","text":"a"}"#).await;
        assert_eq!(status_and_code(&reply), (400, "INVALID_CONTENT_TYPE"));
    }
    let huge = format!(r#"{{"to":"+4915112345678","text":"a","x":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(status_and_code(&service.send(ACME, &[], &huge).await), (413, "BODY_TOO_LARGE"));
}

#[tokio::test]
async fn amounts_are_exact_decimals_in_responses() {
    let service = Service::start().await;
    let reply = service.sms(ACME, "+4917212345678", "hello").await;
    assert_eq!(
        raw_field(&reply.body, "cost"),
        "0.02",
        "the price of the network, more specific than the prefix"
    );
    assert_eq!(raw_field(&reply.body, "balance"), "9.98");
    for _ in 0..9 {
        service.sms(ACME, "+447700900123", "0.04 each").await;
    }
    assert_eq!(service.balance(ACME).await, "9.62", "the balance is an exact decimal");
}

#[tokio::test]
async fn price_is_effective_from_its_date() {
    let service = Service::start().await;
    assert_eq!(raw_field(&service.sms(ACME, DE, "in 2026").await.body, "cost"), "0.05");
    service.advance(47 * 24 * 3600);
    assert_eq!(raw_field(&service.sms(ACME, DE, "in 2027").await.body, "cost"), "0.5");
}

#[tokio::test]
async fn part_count_and_encoding_are_headers_and_the_body_has_the_documented_fields_only() {
    let service = Service::start().await;
    let reply = service.sms(ACME, DE, "hello").await;
    assert_eq!((reply.header("x-sms-parts"), reply.header("x-sms-encoding")), (Some("1"), Some("gsm7")));
    let fields: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&reply.body).unwrap();
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(names, ["balance", "charged", "cost", "from", "message_id", "status", "to"]);
    assert_eq!(
        (&fields["status"], &fields["charged"], &fields["to"]),
        (&json!("queued"), &json!(true), &json!(DE))
    );
    assert_eq!(service.sms(ACME, DE, "\u{436}").await.header("x-sms-encoding"), Some("ucs2"));
}

#[tokio::test]
async fn text_is_sent_as_given_and_smart_encoding_is_an_option_of_the_connection() {
    let service = Service::start().await;
    let text = "It\u{2019}s \u{201c}here\u{201d}\u{2026}";
    assert_eq!(service.sms(ACME, DE, text).await.header("x-sms-encoding"), Some("ucs2"));
    assert_eq!(service.sms("smart", DE, text).await.header("x-sms-encoding"), Some("gsm7"));
    assert_eq!(service.sms("smart", DE, "\u{2019}\u{436}").await.header("x-sms-encoding"), Some("ucs2"));
}

/// A request with every error; correcting the reported one shows the next check.
#[tokio::test]
async fn checks_are_applied_in_the_documented_order() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let json = ("Content-Type", "application/json");
    let wrong = client.call("POST", "/api/v1/sms", &[("Authorization", "Bearer key-list:wrong")], b"{").await;
    assert_eq!(status_and_code(&wrong), (401, "INVALID_API_KEY"));
    assert_eq!(status_and_code(&service.send("key-list", &[], "{").await), (403, "IP_NOT_ALLOWED"));
    for _ in 0..10 {
        service.get("ten", "/api/v1/balance").await;
    }
    assert_eq!(status_and_code(&service.send("ten", &[], "{").await), (429, "RATE_LIMITED"));
    assert_eq!(status_and_code(&service.send(ACME, &[], "{").await), (400, "INVALID_JSON"));

    let first = service.keyed(ACME, "used", DE, "hello").await;
    let bearer = crate::client::bearer(ACME);
    let headers = [("Authorization", bearer.as_str()), json, ("Idempotency-Key", "used")];
    let replay = client.call("POST", "/api/v1/sms", &headers, br#"{"to":"nonsense"}"#).await;
    assert_eq!(
        (replay.status, replay.field("message_id")),
        (200, first.field("message_id")),
        "the replay check precedes the field checks"
    );

    let fields = json!({ "to": "nonsense", "from": "Unknown", "text": "a" });
    assert_eq!(status_and_code(&body(&service, "unverified", fields).await), (400, "INVALID_NUMBER"));
    let sender = json!({ "to": "+447700900123", "from": "Unknown", "text": "http://" });
    assert_eq!(
        status_and_code(&body(&service, "unverified", sender.clone()).await),
        (403, "VERIFICATION_REQUIRED")
    );
    assert_eq!(status_and_code(&body(&service, "domestic", sender).await), (403, "SENDER_NOT_APPROVED"));

    let number = Msisdn::parse("+447700900123").unwrap();
    let (account, now) = (service.account("domestic"), service.clock.now());
    service.gateway().store.opt_outs().add(OptOut::by_keyword(account, number, now)).await.unwrap();
    assert_eq!(
        status_and_code(&service.sms("domestic", "+447700900123", "http://").await),
        (403, "RECIPIENT_OPTED_OUT")
    );
    assert_eq!(
        status_and_code(&service.sms("domestic", "+447700900124", "http://").await),
        (403, "COUNTRY_BLOCKED")
    );
    assert_eq!(
        status_and_code(&service.sms(ACME, "+33612345678", "http://").await),
        (403, "HELD_FOR_REVIEW")
    );
    assert_eq!(status_and_code(&service.sms(ACME, "+33612345678", "hello").await), (422, "NO_PRICE"));
    for _ in 0..2 {
        assert_eq!(service.sms("spender", DE, "0.05 of 0.12 a day").await.status, 202);
    }
    service.post("spender", hermod_store::LedgerKind::Adjustment, "-9.9").await;
    assert_eq!(
        status_and_code(&service.sms("spender", DE, "hello").await),
        (429, "TRAFFIC_CONTROL"),
        "before 402"
    );
    service.advance(61);
    assert_eq!(status_and_code(&service.sms("spender", DE, "hello").await), (402, "INSUFFICIENT_CREDIT"));
}

#[tokio::test]
async fn retry_of_an_accepted_send_never_becomes_a_402_or_403() {
    let service = Service::start().await;
    let first = service.keyed("poor", "order-1", DE, "hello").await;
    assert_eq!(first.status, 202);
    let number = Msisdn::parse(DE).unwrap();
    let (account, now) = (service.account("poor"), service.clock.now());
    service.gateway().store.opt_outs().add(OptOut::by_keyword(account, number, now)).await.unwrap();
    let again = service.keyed("poor", "order-1", DE, "hello").await;
    assert_eq!(
        (again.status, again.field("message_id")),
        (200, first.field("message_id")),
        "opted out since"
    );
    service.gateway().store.opt_outs().remove(account, number).await.unwrap();
    assert_eq!(service.keyed("poor", "order-2", DE, "hello").await.status, 402);
    assert_eq!(service.keyed("poor", "order-1", DE, "hello").await.status, 200, "poor since");
    let reply = service.keyed("poor", "order-1", "+33612345678", "http://").await;
    assert_eq!((reply.status, reply.header("idempotency-mismatch")), (200, Some("true")));
}
