//! Compares the document with the code, and the committed files with the document.

use super::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::receipt::{DlrCode, ErrCode};
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::PublishedError;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, payload};
use std::collections::BTreeSet;
use std::path::Path;

fn json() -> serde_json::Value {
    serde_json::from_str(&crate::http::openapi_page::json(&document())).unwrap()
}

#[track_caller]
fn check_committed(name: &str, expect: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, expect).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == expect,
        "docs/{name} is stale; look at the difference after `UPDATE=1 cargo test -p hermod-gateway --lib document`"
    );
}

#[test]
fn committed_openapi_document_is_up_to_date() {
    check_committed("openapi.json", &crate::http::openapi_page::json(&document()));
}

#[test]
fn examples_have_the_types_of_their_schemas() {
    assert_eq!(crate::http::openapi_examples::mismatches(&json()), Vec::<String>::new());
}

#[test]
fn every_error_code_is_documented() {
    let mut documented = BTreeSet::new();
    for (path, item) in json()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let codes = &response["headers"]["X-Error-Code"]["schema"]["enum"];
                for code in codes.as_array().into_iter().flatten() {
                    let row = PUBLISHED.iter().find(|row| row.code == code.as_str().unwrap());
                    let row = row.unwrap_or_else(|| panic!("{method} {path} names {code}"));
                    assert_eq!(row.http.to_string(), *status, "{code}");
                    documented.insert(row.code);
                }
            }
        }
    }
    // A documented method is never rejected with the first, and only SMPP 3.3 has short ids.
    documented.extend(["METHOD_NOT_ALLOWED", "NO_SHORT_ID"]);
    let published: BTreeSet<&str> = PUBLISHED.iter().map(|row| row.code).collect();
    assert_eq!(documented, published);
}

#[test]
fn every_reference_resolves() {
    let document = json();
    let text = document.to_string();
    let references: BTreeSet<&str> =
        text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(references.contains("/components/schemas/Accepted"));
    for reference in references {
        assert!(document.pointer(reference).is_some(), "{reference} does not resolve");
    }
}

/// The document's enums have exactly the values of the domain.
#[test]
fn documented_states_and_dlr_codes_match_the_domain() {
    let document = json();
    let words = |name: &str| -> BTreeSet<String> {
        let values = document["components"]["schemas"][name]["enum"].as_array().unwrap();
        values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let states = MessageState::ALL.iter().map(|state| state.as_str().to_owned());
    assert_eq!(words("State"), states.collect());
    let codes = DlrCode::ALL.iter().map(|code| code.as_str().to_owned());
    assert_eq!(words("Dlr"), codes.collect());
}

#[test]
fn committed_error_catalogue_is_up_to_date() {
    check_committed("errors.md", &errors_page());
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

/// Parses posted bodies into the documented types.
#[test]
fn webhook_bodies_match_the_document() {
    let from = Sender::parse("Shop").unwrap();
    let to = Msisdn::parse("+4915112345678").unwrap();
    let report = payload::DlrPayload {
        message: MessageId::from_i64(7).unwrap(),
        from: &from,
        to,
        status: ReportStatus::Final(DlrCode::Delivrd),
        state: MessageState::Delivered,
        err: ErrCode::NONE,
        submitted_at: Timestamp::from_millis(1_750_000_000_000),
        at: Timestamp::from_millis(1_750_000_002_000),
    };
    let body = |form| payload::dlr(&report, form, &Numbers::embedded().find(to));
    let full: webhook_bodies::DeliveryReport = serde_json::from_str(&body(DlrForm::Full)).unwrap();
    assert_eq!((full.status.as_str(), full.mcc.as_str()), ("DELIVRD", "262"));
    let short: webhook_bodies::ShortDeliveryReport = serde_json::from_str(&body(DlrForm::Short)).unwrap();
    assert_eq!((short.status.as_str(), short.error_code), ("delivered", None));
    let facts =
        payload::InboundPayload { from: "4915112345678", to: "80808", text: "Yes", received_at: report.at };
    let inbound: webhook_bodies::InboundEvent = serde_json::from_str(&payload::inbound(&facts)).unwrap();
    assert_eq!((inbound.from.as_str(), inbound.text.as_str()), ("+4915112345678", "Yes"));
    let names = json()["webhooks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names, ["deliveryReport", "inboundMessage"]);
}
