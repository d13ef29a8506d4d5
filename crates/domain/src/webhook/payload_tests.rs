//! Unit tests of `payload.rs`.

use super::*;
use crate::numbers::Numbers;
use proptest::prelude::*;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn report(status: ReportStatus, state: MessageState, err: u16, from: &Sender) -> DlrPayload<'_> {
    DlrPayload {
        message: MessageId::parse("123456789012345").unwrap(),
        from,
        to: Msisdn::parse("+4915112345678").unwrap(),
        status,
        state,
        err: ErrCode::new(err),
        submitted_at: at("2026-11-15T09:30:00.999Z"),
        at: at("2026-11-15T09:30:02.5Z"),
    }
}

#[track_caller]
fn check(form: DlrForm, status: ReportStatus, state: MessageState, err: u16, expect: &str) {
    let from = Sender::parse("Shop").unwrap();
    let body = dlr(&report(status, state, err, &from), form, &Destination::UNKNOWN);
    assert!(body.contains(expect), "{expect} is not in\n{body}");
}

#[test]
fn full_form_has_the_fields_of_the_contract_in_order() {
    let from = Sender::parse("Shop").unwrap();
    let report = report(ReportStatus::Final(DlrCode::Delivrd), MessageState::Delivered, 0, &from);
    let destination = Numbers::embedded().find(report.to);
    assert_eq!(
        dlr(&report, DlrForm::Full, &destination),
        r#"{"message_id":"123456789012345","batch_id":"","to":"+4915112345678","from":"Shop","status":"DELIVRD","err_code":0,"err_desc":"No error","submitted_at":"2026-11-15T09:30:00Z","delivered_at":"2026-11-15T09:30:02Z","network":"T-Mobile","mcc":"262","mnc":"01"}"#
    );
}

#[test]
fn unknown_network_fields_are_empty() {
    let status = ReportStatus::Final(DlrCode::Delivrd);
    check(DlrForm::Full, status, MessageState::Delivered, 0, r#""network":"","mcc":"","mnc":"""#);
}

#[test]
fn short_form_has_the_fields_of_the_contract_in_order() {
    let from = Sender::parse("Shop").unwrap();
    let report = report(ReportStatus::Final(DlrCode::Undeliv), MessageState::Undeliverable, 27, &from);
    assert_eq!(
        dlr(&report, DlrForm::Short, &Destination::UNKNOWN),
        r#"{"id":"123456789012345","to":"+4915112345678","status":"undeliverable","error_code":27,"delivered_at":"2026-11-15T09:30:02Z"}"#
    );
}

#[test]
fn every_status_is_written_in_both_forms() {
    use MessageState as State;
    for (status, state, err, full, short) in [
        (ReportStatus::Enroute, State::Enroute, 0, ("ACCEPTD", "No error"), ("enroute", "null")),
        (ReportStatus::Accepted, State::Enroute, 0, ("ACCEPTD", "No error"), ("enroute", "null")),
        (
            ReportStatus::Final(DlrCode::Delivrd),
            State::Delivered,
            7,
            ("DELIVRD", "No error"),
            ("delivered", "null"),
        ),
        (
            ReportStatus::Final(DlrCode::Undeliv),
            State::Undeliverable,
            1,
            ("UNDELIV", "Unknown subscriber"),
            ("undeliverable", "1"),
        ),
        (
            ReportStatus::Final(DlrCode::Rejectd),
            State::Undeliverable,
            10_069,
            ("REJECTD", "Rejected by the carrier: submit failed"),
            ("undeliverable", "10069"),
        ),
        (
            ReportStatus::Final(DlrCode::Rejectd),
            State::Rejected,
            0,
            ("REJECTD", "Rejected, no reason given"),
            ("rejected", "null"),
        ),
        (
            ReportStatus::Final(DlrCode::Expired),
            State::Expired,
            0,
            ("EXPIRED", "Validity period elapsed"),
            ("expired", "null"),
        ),
        (
            ReportStatus::Final(DlrCode::Unknown),
            State::Submitted,
            0,
            ("UNKNOWN", "No receipt from the carrier"),
            ("unknown", "null"),
        ),
    ] {
        let code = if status == ReportStatus::Final(DlrCode::Delivrd) { 0 } else { err };
        let (word, words) = full;
        let expect = format!(r#""status":"{word}","err_code":{code},"err_desc":"{words}""#);
        check(DlrForm::Full, status, state, err, &expect);
        let (word, code) = short;
        check(DlrForm::Short, status, state, err, &format!(r#""status":"{word}","error_code":{code},"#));
    }
}

#[test]
fn international_numbers_get_a_plus_and_others_are_unchanged() {
    for (given, expect) in [
        ("4915112345678", "+4915112345678"),
        ("+4915112345678", "+4915112345678"),
        ("Shop", "Shop"),
        ("12345", "12345"),
        ("", ""),
        ("weird\"name\u{1}", "weird\"name\u{1}"),
    ] {
        assert_eq!(with_plus(given), expect, "{given:?}");
    }
    let from = Sender::parse("4915100000001").unwrap();
    let report = report(ReportStatus::Final(DlrCode::Delivrd), MessageState::Delivered, 0, &from);
    let body = dlr(&report, DlrForm::Full, &Destination::UNKNOWN);
    assert!(body.contains(r#""from":"+4915100000001""#), "{body}");
}

#[test]
fn mo_message_has_four_fields_and_any_text() {
    let message = InboundPayload {
        from: "4915112345678",
        to: "12345",
        text: "a \"quote\", a\nline and \u{1f600}",
        received_at: at("2026-11-15T09:30:00Z"),
    };
    assert_eq!(
        inbound(&message),
        "{\"from\":\"+4915112345678\",\"to\":\"12345\",\"text\":\"a \\\"quote\\\", a\\nline and \u{1f600}\",\
             \"received_at\":\"2026-11-15T09:30:00Z\"}"
    );
}
proptest! {
    #[test]
    fn mo_text_is_escaped_and_read_back(text in any::<String>(), from in any::<String>()) {
        let at = Timestamp::EPOCH;
        let body = inbound(&InboundPayload { from: &from, to: "12345", text: &text, received_at: at });
        let read: serde_json::Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(&read["text"], &serde_json::Value::from(text));
    }
}
