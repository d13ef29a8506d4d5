//! The document against the code it speaks for, and the committed file against the document.

use super::*;
use std::collections::BTreeSet;
use std::path::Path;

fn json() -> serde_json::Value {
    serde_json::from_str(&crate::http::openapi_page::json(&document())).unwrap()
}

#[test]
fn the_committed_document_is_this_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operator-openapi.json");
    let expect = crate::http::openapi_page::json(&document());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &expect).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == expect,
        "docs/operator-openapi.json is stale; look at the difference after \
         `UPDATE=1 cargo test -p hermod-gateway --lib document`"
    );
}

#[test]
fn every_reference_leads_somewhere() {
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
fn every_operation_has_a_name_of_its_own_and_every_code_can_come() {
    let document = json();
    let mut names = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            assert!(names.insert(name.clone()), "{name} stands there twice");
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
    // A method that is documented is never refused as a method.
    codes.insert("METHOD_NOT_ALLOWED");
    assert_eq!(codes, OPERATOR_ERRORS.iter().map(|row| row.code).collect());
}

#[test]
fn what_a_file_takes_bare_the_document_takes_as_a_number() {
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
    let put =
        &document["paths"]["/accounts/{name}"]["put"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(put["required"].to_string(), r#"["currency"]"#);
    let patch = &document["paths"]["/accounts/{name}"]["patch"]["requestBody"]["content"]["application/json"]
        ["schema"];
    assert!(patch["required"].is_null() && patch["additionalProperties"] == false);
}
