//! Checks every response of these tests against the OpenAPI document: status, code and each field of its body.
//! Also tests that the document is public.

use crate::client::Reply;
use crate::fixture::Service;
use hermod_gateway::edges::http_api::document::bodies::{
    AcceptedBody, BalanceBody, InboundPage, MessageStatusBody, Replayed,
};
use hermod_gateway::edges::http_api::document::document;
use hermod_gateway::http::openapi_errors::ErrorBody;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::to_value(document()).unwrap());

/// Panics if the response is not in the document.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, reply: &Reply) {
    let Some(template) = template_of(path) else { return };
    let operation = &DOCUMENT["paths"][template][method.to_ascii_lowercase()];
    if operation.is_null() {
        return;
    }
    let status = reply.status.to_string();
    let response = &operation["responses"][&status];
    assert!(!response.is_null(), "{method} {template} answered {status}, which is not documented");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    for (name, header) in response["headers"].as_object().unwrap() {
        check_header(name, header, reply.header(&name.to_ascii_lowercase()));
    }
    match (template, status.as_str()) {
        ("/sms", "202") => drop(read::<AcceptedBody>(reply)),
        ("/sms", "200") => drop(read::<Replayed>(reply)),
        ("/sms/{id}", "200") => drop(read::<MessageStatusBody>(reply)),
        ("/inbound", "200") => drop(read::<InboundPage>(reply)),
        ("/balance", "200") => drop(read::<BalanceBody>(reply)),
        _ => assert!(read::<ErrorBody>(reply).error.contains(": ")),
    }
}

fn template_of(path: &str) -> Option<&'static str> {
    let path = path.split('?').next().unwrap_or(path).strip_prefix("/api/v1")?;
    match path {
        "/sms" => Some("/sms"),
        "/inbound" => Some("/inbound"),
        "/balance" => Some("/balance"),
        _ => path.strip_prefix("/sms/").filter(|id| !id.is_empty() && !id.contains('/')).map(|_| "/sms/{id}"),
    }
}

#[track_caller]
fn check_header(name: &str, header: &Value, given: Option<&str>) {
    let schema = &header["schema"];
    // This header has no fixed values; its presence is enough.
    let Some(given) = given else { return assert_eq!(name, "Idempotency-Mismatch", "{name} is missing") };
    if schema["type"] == "integer" {
        assert!(given.parse::<u64>().is_ok(), "{name}: {given}");
    }
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.iter().any(|value| value == given), "{name}: {given} is not documented");
    }
}

#[track_caller]
fn read<T: DeserializeOwned>(reply: &Reply) -> T {
    serde_json::from_str(&reply.body).unwrap_or_else(|error| panic!("{error} in {}", reply.body))
}

#[tokio::test]
async fn openapi_document_and_page_need_no_credentials() {
    let service = Service::start().await;
    let mut client = service.client().await;
    let json = client.call("GET", "/openapi.json", &[], b"").await;
    assert_eq!((json.status, json.header("content-type")), (200, Some("application/json")));
    let served: Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!(served, *DOCUMENT);
    assert_eq!(served["openapi"], "3.1.0");

    let page = client.call("GET", "/docs", &[], b"").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    for part in ["Send a message", "INSUFFICIENT_CREDIT", "curl -u"] {
        assert!(page.body.contains(part), "{part} is not on the page");
    }
    let refused = client.call("POST", "/docs", &[], b"").await;
    assert_eq!((refused.status, refused.code()), (405, "METHOD_NOT_ALLOWED"));
}
