//! Checks every response of these tests against the OpenAPI document: path, status, code and the fields of
//! its body. Also tests that the document is public.

use crate::fixture::{ApiFixture, Reply};
use axum::body::Body;
use axum::http::Request;
use hermod_operator::api::document::document;
use serde_json::Value;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::to_value(document()).unwrap());

/// Panics if the response is not in the document.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, reply: &Reply) {
    let path = path.split('?').next().unwrap_or(path);
    if matches!(reply.status, 404 | 405) || matches!(path, "/openapi.json" | "/docs") {
        return;
    }
    let template = template_of(path).unwrap_or_else(|| panic!("{path} is answered and not documented"));
    let operation = &DOCUMENT["paths"][template][method.to_ascii_lowercase()];
    assert!(!operation.is_null(), "{method} {template} is answered and not documented");
    let response = resolved(&operation["responses"][reply.status.to_string()]);
    assert!(!response.is_null(), "{method} {template} answered {}, which is not documented", reply.status);
    if let Some(code) = reply.header("x-error-code") {
        let codes = response["headers"]["X-Error-Code"]["schema"]["enum"].as_array();
        let told = codes.is_some_and(|codes| codes.iter().any(|known| known == code));
        assert!(told, "{method} {template} answered {code}, which is not documented");
    }
    let media =
        reply.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or("application/json");
    let content = &response["content"][media];
    assert!(!content.is_null(), "{method} {template} answered {media}, which is not documented");
    let schema = &content["schema"];
    fits(&reply.body, schema, &format!("{method} {template}"));
}

/// Returns the path template with the most literal segments of the path.
fn template_of(path: &str) -> Option<&'static str> {
    let matches = |template: &str| {
        let (mut given, mut wanted) = (path.split('/'), template.split('/').peekable());
        while let Some(piece) = wanted.next() {
            let Some(word) = given.next() else { return false };
            if piece == "{name}" && wanted.peek().is_none() {
                // Names may contain a slash.
                return true;
            }
            if !piece.starts_with('{') && piece != word {
                return false;
            }
        }
        given.next().is_none()
    };
    let all = DOCUMENT["paths"].as_object().unwrap().keys();
    all.map(String::as_str)
        .filter(|template| matches(template))
        .max_by_key(|template| (template.split('/').count(), !template.contains('{')))
}

/// Checks that every field is documented and every required one is present.
#[track_caller]
fn fits(value: &Value, schema: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap();
        return fits(value, target, place);
    }
    if let Some(all) = schema["allOf"].as_array() {
        all.iter().for_each(|part| required(value, resolved(part), place));
        let known = all.iter().flat_map(|part| properties(resolved(part)));
        return fields(value, &known.collect::<Vec<_>>(), place);
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        return list.iter().for_each(|element| fits(element, items, place));
    }
    if value.is_object() && schema.get("properties").is_some() {
        required(value, schema, place);
        fields(value, &properties(schema).collect::<Vec<_>>(), place);
    }
}

fn resolved(schema: &Value) -> &Value {
    match schema["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

#[track_caller]
fn required(value: &Value, schema: &Value, place: &str) {
    for field in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(field.as_str().unwrap()).is_some(), "{place}: {field} is missing in {value}");
    }
}

#[track_caller]
fn fields(value: &Value, known: &[(&String, &Value)], place: &str) {
    for (field, inner) in value.as_object().into_iter().flatten() {
        let found = known.iter().find(|(name, _)| *name == field);
        let (_, schema) = found.unwrap_or_else(|| panic!("{place}: {field} is not documented"));
        fits(inner, schema, place);
    }
}

#[tokio::test]
async fn openapi_document_and_page_need_no_token() {
    let fixture = ApiFixture::open().await;
    let ask = |path: &str| Request::builder().uri(format!("/operator/v1{path}")).body(Body::empty()).unwrap();
    let json = fixture.send(ask("/openapi.json")).await;
    assert_eq!((json.status, &json.body), (200, &*DOCUMENT));
    assert_eq!(json.body["openapi"], "3.1.0");
    let page = fixture.send(ask("/docs")).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    for part in ["Apply a provision file", "REFERENCE_TAKEN", "approveReview"] {
        assert!(page.text.contains(part), "{part} is not on the page");
    }
    assert_eq!(fixture.send(ask("/errors")).await.status, 401);
}
