//! The contract's error table, one test for each status and code.

use super::fixture::{ACME, Service, status_and_code};
use hermod_domain::phone::Msisdn;
use hermod_store::OptOut;

const DE: &str = "+4915112345678";

#[tokio::test]
async fn error_400_invalid_json_or_to_or_text_missing() {
    let service = Service::start().await;
    for (body, code) in [
        ("{", "INVALID_JSON"),
        ("[]", "INVALID_JSON"),
        (r#"{"text":"a"}"#, "MISSING_FIELD"),
        (r#"{"to":"","text":"a"}"#, "MISSING_FIELD"),
        (r#"{"to":"+4915112345678"}"#, "MISSING_FIELD"),
        (r#"{"to":"+4915112345678","text":""}"#, "MISSING_FIELD"),
    ] {
        assert_eq!(status_and_code(&service.send(ACME, &[], body).await), (400, code), "{body}");
    }
}

#[tokio::test]
async fn error_401_missing_or_invalid_credentials() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let missing = client.call("GET", "/api/v1/balance", &[], b"").await;
    assert_eq!(status_and_code(&missing), (401, "INVALID_API_KEY"));
    assert!(missing.header("www-authenticate").unwrap().starts_with("Basic "));
    let wrong = client.call("GET", "/api/v1/balance", &[("Authorization", "Bearer acme:wrong")], b"").await;
    assert_eq!(status_and_code(&wrong), (401, "INVALID_API_KEY"));
    assert_eq!(status_and_code(&service.get("unknown", "/api/v1/balance").await), (401, "INVALID_API_KEY"));
}

#[tokio::test]
async fn error_401_invalid_api_key_missing_expired_or_revoked() {
    let service = Service::start().await;
    assert_eq!(status_and_code(&service.get("revoked", "/api/v1/balance").await), (401, "INVALID_API_KEY"));
    assert_eq!(
        service.get("revoked-second", "/api/v1/balance").await.status,
        200,
        "another key of the connection"
    );
    assert_eq!(
        service.get("expired", "/api/v1/balance").await.status,
        200,
        "thirty seconds before it expires"
    );
    service.advance(30);
    assert_eq!(status_and_code(&service.get("expired", "/api/v1/balance").await), (401, "INVALID_API_KEY"));
    assert_eq!(status_and_code(&service.get("closed", "/api/v1/balance").await), (401, "INVALID_API_KEY"));
}

#[tokio::test]
async fn error_402_insufficient_balance() {
    let service = Service::start().await;
    let reply = service.sms(ACME, DE, &"x".repeat(1600)).await;
    assert_eq!(reply.status, 202);
    assert_eq!(service.sms("poor", DE, "0.05 of 0.1, 0.02 must stay").await.status, 202);
    let refused = service.sms("poor", DE, "0.05 of 0.05, 0.02 must stay").await;
    assert_eq!(status_and_code(&refused), (402, "INSUFFICIENT_CREDIT"));
    assert_eq!(service.balance("poor").await, "0.05", "nothing was charged");
}

#[tokio::test]
async fn error_403_sender_not_approved_or_blocked() {
    let service = Service::start().await;
    assert_eq!(status_and_code(&service.sms_from(ACME, "Unknown").await), (403, "SENDER_NOT_APPROVED"));
    assert_eq!(
        status_and_code(&service.sms_from(ACME, "Later").await),
        (403, "SENDER_NOT_APPROVED"),
        "still pending"
    );
    assert_eq!(
        status_and_code(&service.sms_from(ACME, "BANK").await),
        (403, "SENDER_BLOCKED"),
        "blocked for every account"
    );
    assert_eq!(service.sms_from(ACME, "A&B - c_d.").await.status, 202);
}

#[tokio::test]
async fn error_403_recipient_opted_out() {
    let service = Service::start().await;
    let number = Msisdn::parse(DE).unwrap();
    let entry = OptOut::by_keyword(service.account(ACME), number, service.clock.now());
    service.gateway().store.opt_outs().add(entry).await.unwrap();
    assert_eq!(status_and_code(&service.sms(ACME, DE, "hello").await), (403, "RECIPIENT_OPTED_OUT"));
    assert_eq!(service.sms("other", DE, "hello").await.status, 202, "the opt-out holds for one account only");
    assert_eq!(service.sms(ACME, "+4915112345679", "hello").await.status, 202);
    service.gateway().store.opt_outs().remove(service.account(ACME), number).await.unwrap();
    assert_eq!(service.sms(ACME, DE, "hello").await.status, 202);
}

#[tokio::test]
async fn error_403_source_ip_not_allowed() {
    let service = Service::start().await;
    for (key, status) in [("both-lists", 200), ("key-list", 403), ("connection-list", 403), (ACME, 200)] {
        let reply = service.get(key, "/api/v1/balance").await;
        assert_eq!(reply.status, status, "{key}");
        if status == 403 {
            assert_eq!(reply.code(), "IP_NOT_ALLOWED");
            assert!(reply.body.contains("source IP 127.0.0.1 is not allowed"), "{}", reply.body);
        }
    }
}

#[tokio::test]
async fn error_403_account_suspended() {
    let service = Service::start().await;
    let refused = service.sms("suspended", DE, "hello").await;
    assert_eq!(status_and_code(&refused), (403, "ACCOUNT_SUSPENDED"));
    assert!(!refused.body.contains("unpaid invoice"), "the reason is for people: {}", refused.body);
    assert_eq!(service.balance("suspended").await, "10", "not charged, and the balance can be read");
}

#[tokio::test]
async fn error_403_identity_verification_required() {
    let service = Service::start().await;
    assert_eq!(
        status_and_code(&service.sms("unverified", DE, "hello").await),
        (403, "VERIFICATION_REQUIRED")
    );
}

#[tokio::test]
async fn error_403_message_held_for_review() {
    let service = Service::start().await;
    let held = service.sms(ACME, DE, "see http://x.example").await;
    assert_eq!(status_and_code(&held), (403, "HELD_FOR_REVIEW"));
    assert_eq!(service.balance(ACME).await, "10", "not accepted, not charged");
}

#[tokio::test]
async fn error_403_country_blocked() {
    let service = Service::start().await;
    assert_eq!(
        status_and_code(&service.sms("domestic", "+447700900123", "hello").await),
        (403, "COUNTRY_BLOCKED")
    );
    assert_eq!(service.sms("domestic", DE, "hello").await.status, 202);
}

#[tokio::test]
async fn error_403_destination_blocked() {
    let service = Service::start().await;
    let refused = service.sms(ACME, "+4915999000042", "hello").await;
    assert_eq!(status_and_code(&refused), (403, "DESTINATION_BLOCKED"));
    assert!(!refused.body.contains("fraud"), "the reason is for the operator: {}", refused.body);
    let of_other = "+4915999111111";
    assert_eq!(status_and_code(&service.sms("other", of_other, "hello").await), (403, "DESTINATION_BLOCKED"));
    assert_eq!((service.balance(ACME).await, service.balance("other").await), ("10".into(), "10".into()));
    assert_eq!(service.sms(ACME, of_other, "blocked for another account").await.status, 202);
    assert_eq!(service.sms(ACME, "+4915999000100", "after the range").await.status, 202);
}

#[tokio::test]
async fn error_404_message_not_found_including_an_id_of_another_account() {
    let service = Service::start().await;
    let id = service.sms(ACME, DE, "hello").await.field("message_id");
    let path = format!("/api/v1/sms/{id}");
    assert_eq!(service.get(ACME, &path).await.status, 200);
    let foreign = service.get("other", &path).await;
    assert_eq!(status_and_code(&foreign), (404, "NOT_FOUND"));
    let absent = service.get("other", "/api/v1/sms/1").await;
    assert_eq!(
        (absent.status, &absent.body),
        (foreign.status, &foreign.body),
        "the response does not reveal existing ids"
    );
}

#[tokio::test]
async fn error_422_no_price_or_no_route_for_the_destination() {
    let service = Service::start().await;
    assert_eq!(status_and_code(&service.sms(ACME, "+33612345678", "hello").await), (422, "NO_PRICE"));
    assert_eq!(status_and_code(&service.sms(ACME, "+9991234567", "hello").await), (422, "NO_ROUTE"));
}

#[tokio::test]
async fn error_429_rate_limit_exceeded_with_retry_after() {
    let service = Service::start().await;
    for _ in 0..10 {
        assert_eq!(service.get("ten", "/api/v1/balance").await.status, 200);
    }
    let reply = service.get("ten", "/api/v1/balance").await;
    assert_eq!(status_and_code(&reply), (429, "RATE_LIMITED"));
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn error_429_rejected_by_a_traffic_control() {
    let service = Service::start().await;
    for _ in 0..10 {
        assert_eq!(service.sms("daily", DE, "hello").await.status, 202);
    }
    let reply = service.sms("daily", DE, "hello").await;
    assert_eq!(status_and_code(&reply), (429, "TRAFFIC_CONTROL"));
    assert_eq!(reply.header("retry-after"), Some("60"), "the day ends in a minute");
}

#[tokio::test]
async fn error_500_submit_failed_charges_and_stores_nothing() {
    let service = Service::start().await;
    let database = rusqlite::Connection::open(service.folder.path().join("data/hermod.db")).unwrap();
    database
        .execute_batch(
            "CREATE TRIGGER broken BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'broken'); END",
        )
        .unwrap();
    let reply = service.keyed(ACME, "order-1", DE, "hello").await;
    assert_eq!(status_and_code(&reply), (500, "SUBMIT_FAILED"));
    assert!(!reply.body.contains("broken"), "internal errors are not in the response: {}", reply.body);
    assert_eq!(service.balance(ACME).await, "10");
    database.execute_batch("DROP TRIGGER broken").unwrap();
    assert_eq!(service.keyed(ACME, "order-1", DE, "hello").await.status, 202, "the key is still free");
}

#[tokio::test]
async fn error_400_invalid_number() {
    let service = Service::start().await;
    let reply = service.sms(ACME, "4915112345678", "hello").await;
    assert_eq!(status_and_code(&reply), (400, "INVALID_NUMBER"));
}

#[tokio::test]
async fn error_400_invalid_sender() {
    let service = Service::start().await;
    for from in ["TwelveLetter", "Caf\u{e9}", "a/b"] {
        assert_eq!(status_and_code(&service.sms_from(ACME, from).await), (400, "INVALID_SENDER"), "{from}");
    }
}

#[tokio::test]
async fn error_400_text_too_long() {
    let service = Service::start().await;
    assert_eq!(status_and_code(&service.sms(ACME, DE, &"x".repeat(1601)).await), (400, "TEXT_TOO_LONG"));
}

#[tokio::test]
async fn error_503_gateway_unavailable_with_retry_after() {
    let service = Service::start().await;
    let mut client = service.client().await;
    assert_eq!(client.send(ACME, &[], r#"{"to":"+4915112345678","text":"a"}"#).await.status, 202);
    service.gateway().start_draining();
    let reply = client.send(ACME, &[], r#"{"to":"+4915112345678","text":"a"}"#).await;
    assert_eq!(status_and_code(&reply), (503, "GATEWAY_UNAVAILABLE"));
    let wait: u32 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!(wait > 0);
}
