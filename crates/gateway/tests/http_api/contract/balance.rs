//! Decisions of the contract about the balance.

use super::fixture::{ACME, Service, raw_field, status_and_code};
use hermod_domain::money::Money;
use hermod_store::LedgerKind;
use std::sync::Arc;

const DE: &str = "+4915112345678";

/// Returns `balance credit_limit credit_used available` after checking that they add up.
async fn figures(service: &Service, key: &str) -> String {
    let body = service.get(key, "/api/v1/balance").await.body;
    let [balance, limit, used, available] =
        ["balance", "credit_limit", "credit_used", "available"].map(|field| raw_field(&body, field));
    let [b, l, u, a] = [&balance, &limit, &used, &available].map(|text| Money::parse(text).unwrap());
    assert_eq!(b.checked_add(l).unwrap().checked_sub(u).unwrap(), a, "{body}");
    format!("{balance} {limit} {used} {available}")
}

#[tokio::test]
async fn available_is_balance_plus_credit_limit_minus_credit_used_in_every_response() {
    let service = Service::start().await;
    assert_eq!(figures(&service, "postpaid").await, "0 0.2 0 0.2");
    service.sms("postpaid", DE, "hello").await;
    service.sms("postpaid", DE, "hello").await;
    assert_eq!(figures(&service, "postpaid").await, "-0.1 0.2 0 0.1", "the balance goes below zero");
    service.post("postpaid", LedgerKind::Invoice, "0.1").await;
    assert_eq!(
        figures(&service, "postpaid").await,
        "0 0.2 0.1 0.1",
        "the invoice moved the debt to credit used"
    );
    service.sms("postpaid", DE, "hello").await;
    assert_eq!(figures(&service, "postpaid").await, "-0.05 0.2 0.1 0.05");
    service.post("postpaid", LedgerKind::Payment, "0.06").await;
    assert_eq!(figures(&service, "postpaid").await, "-0.05 0.2 0.04 0.11");
    service.post("postpaid", LedgerKind::Payment, "1").await;
    assert_eq!(figures(&service, "postpaid").await, "0.91 0.2 0 1.11", "the overpayment is in the balance");
}

#[tokio::test]
async fn sending_stops_when_available_is_zero() {
    let service = Service::start().await;
    for _ in 0..4 {
        assert_eq!(service.sms("postpaid", DE, "hello").await.status, 202);
    }
    assert_eq!(figures(&service, "postpaid").await, "-0.2 0.2 0 0");
    assert_eq!(status_and_code(&service.sms("postpaid", DE, "hello").await), (402, "INSUFFICIENT_CREDIT"));
    service.post("postpaid", LedgerKind::TopUp, "0.05").await;
    assert_eq!(service.sms("postpaid", DE, "hello").await.status, 202);
}

#[tokio::test]
async fn payment_terms_are_prepaid_or_postpaid() {
    let service = Service::start().await;
    let prepaid = service.get(ACME, "/api/v1/balance").await.body;
    assert_eq!(
        (raw_field(&prepaid, "payment_terms"), raw_field(&prepaid, "postpaid")),
        ("\"prepaid\"".into(), "false".into())
    );
    assert_eq!(raw_field(&prepaid, "currency"), "\"EUR\"");
    let postpaid = service.get("postpaid", "/api/v1/balance").await.body;
    assert_eq!(
        (raw_field(&postpaid, "payment_terms"), raw_field(&postpaid, "postpaid")),
        ("\"postpaid\"".into(), "true".into())
    );
}

#[tokio::test]
async fn balance_in_a_send_response_is_that_after_its_own_charge() {
    let service = Service::start().await;
    for expect in ["9.95", "9.9", "9.85"] {
        assert_eq!(raw_field(&service.sms(ACME, DE, "hello").await.body, "balance"), expect);
    }
}

#[tokio::test]
async fn two_hundred_parallel_sends_against_a_balance_for_ten_accept_exactly_ten() {
    let service = Arc::new(Service::start().await);
    service.post(ACME, LedgerKind::Adjustment, "-9.5").await;
    let mut sends = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let service = service.clone();
        sends.spawn(async move { service.sms(ACME, DE, "hello").await.status });
    }
    let statuses = sends.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 10);
    assert_eq!(statuses.iter().filter(|status| **status == 402).count(), 190);
    assert_eq!(service.balance(ACME).await, "0");
    let report = hermod_store::Store::audit(&service.folder.path().join("data")).unwrap();
    assert!(report.is_clean(), "{:?}", report.violations);
}
