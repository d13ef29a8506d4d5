//! `GET /sms/{id}` and `GET /balance`.

use crate::client::{bearer, request};
use crate::fixture::Service;
use crate::test_customers::{ACME, ACME_TOO, POSTPAID, POSTPAID_WITHOUT_LIMIT, PREPAID_WITH_LIMIT};
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;

const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;

#[tokio::test]
async fn message_status_is_returned_to_its_account() {
    let service = Service::start().await;
    let id = service.send(ACME, &[], SEND).await.field("message_id");
    let path = format!("/api/v1/sms/{id}");
    // Number ranges change; the tests of the number data check the operator.
    let operator = Numbers::embedded().find(Msisdn::parse("+4915112345678").unwrap()).operator;
    assert!(!operator.is_empty());
    let expect = format!(
        r#"{{"message_id":"{id}","source":"Acme","dest":"4915112345678","status":"queued","dlr":"UNKNOWN","direction":"MT","country":"Germany","operator":"{operator}"}}"#
    );
    for key in [ACME, ACME_TOO] {
        let reply = service.get(key, &path).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, expect.as_str()));
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert!(reply.header("x-ratelimit-remaining").is_some());
    }
}

#[tokio::test]
async fn unknown_ids_and_ids_of_other_accounts_get_the_same_404() {
    let service = Service::start().await;
    let id = service.send(ACME, &[], SEND).await.field("message_id");
    let foreign = service.get(POSTPAID, &format!("/api/v1/sms/{id}")).await;
    let mut bodies = vec![foreign];
    for odd in [
        "1",
        "0",
        "-1",
        "999999999999999999",
        "99999999999999999999999",
        "abc",
        "%31",
        "1%00",
        "+1",
        "%ff",
        "1?x=1",
        "'--",
    ] {
        bodies.push(service.get(ACME, &format!("/api/v1/sms/{odd}")).await);
    }
    bodies.push(service.get(ACME, &format!("/api/v1/sms/0{id}")).await);
    for reply in &bodies {
        assert_eq!((reply.status, reply.code()), (404, "NOT_FOUND"));
        assert_eq!(reply.body, bodies[0].body, "the response must not reveal existing ids");
    }
    // A query string is ignored.
    assert_eq!(service.get(ACME, &format!("/api/v1/sms/{id}?verbose=1")).await.status, 200);
}

#[tokio::test]
async fn balance_figures_add_up() {
    let service = Service::start().await;
    let reply = service.get(ACME, "/api/v1/balance").await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (
            200,
            r#"{"balance":10,"currency":"EUR","credit_limit":0,"credit_used":0,"available":10,"payment_terms":"prepaid","postpaid":false}"#
        )
    );
    assert_eq!(service.send(POSTPAID, &[], SEND).await.status, 202);
    assert_eq!(
        service.get(POSTPAID, "/api/v1/balance").await.body,
        r#"{"balance":-0.065,"currency":"EUR","credit_limit":5,"credit_used":0,"available":4.935,"payment_terms":"postpaid","postpaid":true}"#
    );
}

#[tokio::test]
async fn payment_terms_are_those_of_the_account() {
    let service = Service::start().await;
    for (key, terms, postpaid) in [
        (ACME, "prepaid", false),
        (POSTPAID, "postpaid", true),
        (POSTPAID_WITHOUT_LIMIT, "postpaid", true),
        (PREPAID_WITH_LIMIT, "prepaid", false),
    ] {
        let body = service.get(key, "/api/v1/balance").await.body;
        let record: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (record["payment_terms"].as_str(), record["postpaid"].as_bool()),
            (Some(terms), Some(postpaid)),
            "{key}"
        );
    }
}

#[tokio::test]
async fn unknown_operator_of_a_number_is_empty() {
    let service = Service::start().await;
    let id = service.send(ACME, &[], r#"{"to":"+49999999999","text":"hello"}"#).await.field("message_id");
    let reply = service.get(ACME, &format!("/api/v1/sms/{id}")).await;
    assert_eq!((reply.field("country").as_str(), reply.field("operator").as_str()), ("Germany", ""));
}

#[tokio::test]
async fn head_returns_the_headers_of_get_without_a_body() {
    let service = Service::start().await;
    let mut client = service.client().await;
    client.write(request("HEAD", "/api/v1/balance", &[("Authorization", &bearer(ACME))], b"")).await;
    let reply = client.read_response_to("HEAD").await.unwrap();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}
