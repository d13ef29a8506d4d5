//! Compares the document with the catalogue of errors, and with the committed file.

#[path = "../../../gateway/src/http/openapi_examples.rs"]
mod openapi_examples;

use super::*;
use std::collections::BTreeSet;
use std::path::Path;

fn json() -> serde_json::Value {
    serde_json::from_str(&hermod_gateway::http::openapi_page::json(&document())).unwrap()
}

#[test]
fn committed_document_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operator-openapi.json");
    let expect = hermod_gateway::http::openapi_page::json(&document());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &expect).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == expect,
        "docs/operator-openapi.json is out of date; compare it after \
         `UPDATE=1 cargo test -p hermod-operator --lib document`"
    );
}

#[test]
fn page_has_every_operation() {
    let page = hermod_gateway::http::openapi_page::render(&document(), OPERATOR_ERRORS);
    for item in json()["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(page.contains(&format!("id=\"operation-{id}\"")), "{id}");
        }
    }
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
fn examples_have_the_types_of_their_schemas() {
    assert_eq!(openapi_examples::mismatches(&json()), Vec::<String>::new());
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
