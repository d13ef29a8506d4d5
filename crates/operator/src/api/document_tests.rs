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
        ("Price", "per_part", r#"["string","integer"]"#),
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
