//! Compares the document with the catalogue of errors and with provision files.

use super::*;
use crate::refusal::published::OPERATOR_ERRORS;
use std::collections::BTreeSet;

fn json() -> serde_json::Value {
    serde_json::to_value(document()).unwrap()
}

#[test]
fn every_reference_resolves() {
    let document = json();
    let text = document.to_string();
    let references: BTreeSet<&str> =
        text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(references.len() > 20);
    for reference in references {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}

#[test]
fn operation_ids_are_unique_and_every_error_code_is_documented() {
    let document = json();
    let mut names = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            assert!(names.insert(name.clone()), "duplicate operationId {name}");
        }
    }
    let mut codes = BTreeSet::new();
    for (name, response) in document["components"]["responses"].as_object().unwrap() {
        for code in response["headers"]["X-Error-Code"]["schema"]["enum"].as_array().unwrap() {
            let row = OPERATOR_ERRORS.iter().find(|row| row.code == code.as_str().unwrap()).unwrap();
            assert!(name.starts_with(&row.http.to_string()), "{name}");
            codes.insert(row.code);
        }
    }
    // A documented method is never rejected as a method.
    codes.insert("METHOD_NOT_ALLOWED");
    assert_eq!(codes, OPERATOR_ERRORS.iter().map(|row| row.code).collect());
}

#[test]
fn request_fields_take_the_forms_of_a_provision_file() {
    let document = json();
    for (schema, field, types) in [
        ("Account", "opening_balance", r#"["string","integer","null"]"#),
        ("Account", "credit_limit", r#"["string","integer","null"]"#),
        ("Account", "minimum", r#"["string","integer","null"]"#),
        ("Account", "currency", r#""string""#),
        ("Account", "closed", r#"["boolean","null"]"#),
        ("Price", "per_part", r#"["string","integer","null"]"#),
        ("Price", "mcc", r#"["string","null","integer"]"#),
        ("Price", "prefix", r#"["string","null"]"#),
        ("Control", "spend_per_day", r#"["string","null","integer"]"#),
    ] {
        let field_schema = &document["components"]["schemas"][schema]["properties"][field];
        assert_eq!(field_schema["type"].to_string(), types, "{schema}.{field}");
    }
    let body = |method: &str| {
        document["paths"]["/accounts/{name}"][method]["requestBody"]["content"]["application/json"]["schema"]
            .clone()
    };
    assert_eq!(body("put")["allOf"][1]["required"].to_string(), r#"["currency"]"#);
    assert_eq!(body("patch"), body("put")["allOf"][0]);
    let fields = &document["components"]["schemas"]["AccountFields"];
    assert!(fields["required"].is_null() && fields["additionalProperties"] == false);
}

/// Names of fields that can hold the number of a handset or a text of a message.
const PERSONAL: [&str; 12] = [
    "answer",
    "body",
    "content",
    "from",
    "handset",
    "line",
    "msisdn",
    "number",
    "recipient",
    "sentence",
    "text",
    "to",
];

/// Fields with such a name that hold something else.
const NOT_PERSONAL: [(&str, &str, &str); 18] = [
    ("AuditRowView", "from", "the address of the author"),
    ("CarrierParameter", "text", "a fixed value of every PDU"),
    ("Cost", "from", "a time"),
    ("DeliveriesView", "from", "a day"),
    ("DeliveriesView", "to", "a day"),
    ("ExchangeRate", "from", "a time"),
    ("LastErrorView", "text", "why a link failed"),
    ("LookupView", "number", "the caller typed it"),
    ("ExplanationView", "sentence", "the caller typed the number in it"),
    ("MessageView", "from", "the sender of the customer"),
    ("ReviewView", "from", "the sender of the customer"),
    ("Number", "number", "a number of the customer"),
    ("Price", "from", "a time"),
    ("SenderRewrite", "from", "a sender"),
    ("SenderRewrite", "to", "a sender"),
    ("StatementView", "from", "a day"),
    ("StatementView", "to", "a day"),
    ("UnassignedView", "to", "a number of the gateway"),
];

/// Collects the fields of a response that hold text: the name of the schema, that of the field, and what the field refers to.
fn texts_in(
    document: &serde_json::Value,
    schema: &serde_json::Value,
    name: &str,
    found: &mut BTreeSet<(String, String, String)>,
    seen: &mut BTreeSet<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        if seen.insert(reference.to_owned()) {
            let name = reference.rsplit('/').next().unwrap();
            texts_in(
                document,
                document.pointer(reference.trim_start_matches('#')).unwrap(),
                name,
                found,
                seen,
            );
        }
        return;
    }
    for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
        let written = inner.to_string();
        let refers = written.split("#/components/schemas/").nth(1).and_then(|rest| rest.split('"').next());
        if refers.is_some() || written.contains("\"string\"") {
            found.insert((name.to_owned(), field.clone(), refers.unwrap_or_default().to_owned()));
        }
        texts_in(document, inner, name, found, seen);
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        for part in schema[key].as_array().into_iter().flatten() {
            texts_in(document, part, name, found, seen);
        }
    }
    if let Some(items) = schema.get("items") {
        texts_in(document, items, name, found, seen);
    }
}

#[test]
fn fields_that_hold_numbers_or_texts_are_masked_types() {
    let document = json();
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let is_masked = operation["x-roles"].to_string().contains("reader");
            let responses = operation["responses"].as_object().unwrap().iter();
            for (_, response) in responses.filter(|(status, _)| is_masked && status.starts_with('2')) {
                let schema = &response["content"]["application/json"]["schema"];
                texts_in(&document, schema, "", &mut found, &mut seen);
            }
        }
    }
    assert!(
        found.contains(&("MessageView".to_owned(), "to".to_owned(), "HandsetNumber".to_owned())),
        "{found:?}"
    );
    let masked = crate::views::masking::MASKED_TYPES;
    let exempt =
        |schema: &str, field: &str| NOT_PERSONAL.iter().any(|(of, name, _)| (*of, *name) == (schema, field));
    let forgotten: Vec<_> = found
        .iter()
        .filter(|(schema, field, refers)| {
            PERSONAL.contains(&field.as_str()) && !masked.contains(&refers.as_str()) && !exempt(schema, field)
        })
        .collect();
    assert!(forgotten.is_empty(), "numbers or texts that are not masked: {forgotten:?}");
    for (schema, field, _) in NOT_PERSONAL {
        assert!(
            found.iter().any(|(of, name, _)| (of.as_str(), name.as_str()) == (schema, field)),
            "{schema}.{field}"
        );
    }
}
