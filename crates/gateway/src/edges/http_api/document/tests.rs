//! Compares the document with the code.

use super::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::receipt::{DlrCode, ErrCode};
use hermod_domain::refusal::published::PUBLISHED;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, payload};
use std::collections::BTreeSet;

fn json() -> serde_json::Value {
    serde_json::to_value(document()).unwrap()
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
