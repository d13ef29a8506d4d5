//! Compares what is recorded in docs/ with the code: the OpenAPI document of each API and its page, which the gateway serves, and
//! the table of errors. `UPDATE=1 cargo test -p hermod-gateway --test documents` records them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod examples;
mod page;

use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::{PUBLISHED, PublishedError};
use hermod_gateway::edges::http_api::document::document as customer_document;
use hermod_operator::api::document::document as operator_document;
use hermod_operator::refusal::published::OPERATOR_ERRORS;
use std::path::Path;
use utoipa::openapi::OpenApi;

#[track_caller]
fn check_recorded(name: &str, expect: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let recorded = || std::fs::read_to_string(&file).unwrap_or_default();
    // A file that is written is compiled in again.
    if std::env::var_os("UPDATE").is_some() && recorded() != expect {
        std::fs::write(&file, expect).unwrap();
    }
    assert!(
        recorded() == expect,
        "docs/{name} is stale; look at the difference after `UPDATE=1 cargo test -p hermod-gateway --test documents`"
    );
}

fn pretty_json(document: &OpenApi) -> String {
    document.to_pretty_json().unwrap() + "\n"
}

#[test]
fn recorded_document_of_the_customer_api_is_up_to_date() {
    check_recorded("openapi.json", &pretty_json(&customer_document()));
}

#[test]
fn recorded_page_of_the_customer_api_is_up_to_date() {
    check_recorded("openapi.html", &page::render(&customer_document(), PUBLISHED));
}

#[test]
fn recorded_document_of_the_operator_api_is_up_to_date() {
    check_recorded("operator-openapi.json", &pretty_json(&operator_document()));
}

#[test]
fn recorded_page_of_the_operator_api_is_up_to_date() {
    check_recorded("operator-openapi.html", &page::render(&operator_document(), OPERATOR_ERRORS));
}

#[test]
fn page_has_every_operation() {
    for (document, errors) in [(customer_document(), PUBLISHED), (operator_document(), OPERATOR_ERRORS)] {
        let page = page::render(&document, errors);
        for item in serde_json::to_value(&document).unwrap()["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let id = operation["operationId"].as_str().unwrap();
                assert!(page.contains(&format!("id=\"operation-{id}\"")), "{id}");
            }
        }
    }
}

#[test]
fn examples_have_the_types_of_their_schemas() {
    for document in [customer_document(), operator_document()] {
        let document = serde_json::to_value(&document).unwrap();
        assert_eq!(examples::mismatches(&document), Vec::<String>::new());
    }
}

#[test]
fn recorded_table_of_errors_is_up_to_date() {
    check_recorded("errors.md", &errors_page());
}

fn errors_page() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         All error codes, in the order of checks. Generated from `crates/domain/src/refusal/published.rs`; change them there.\n\n\
         Over HTTP an error is `{\"error\": \"CODE: sentence\"}` with the code again in `X-Error-Code`; over SMPP it is the\n\
         `command_status` of the response, or the second value for binds with `extended_codes`. Use the code: sentences may\n\
         change, codes do not. A rejected message is never charged, and its idempotency key stays unused.\n\n\
         \"Retry\" says whether the same request can succeed later without a change of the request or the account.\n\n\
         | Code | HTTP | SMPP | Retry | Charged | Meaning | What to do |\n|---|---|---|---|---|---|---|\n",
    );
    for row in PUBLISHED {
        let PublishedError { code, http, smpp, smpp_extended, class, charged, meaning, what_to_do } = row;
        let detail = smpp_extended.map(|detail| format!(", {detail:#06x}")).unwrap_or_default();
        let (again, charged) = (yes_or_no(*class == Class::Temporary), yes_or_no(*charged));
        page.push_str(&format!(
            "| `{code}` | {http} | {smpp:#04x}{detail} | {again} | {charged} | {meaning} | {what_to_do} |\n"
        ));
    }
    page
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
