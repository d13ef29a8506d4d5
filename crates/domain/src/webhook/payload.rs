//! The JSON bodies of webhooks, with the fields of the contract in its order. Equal input always gives equal octets, so
//! that every attempt has the same body.

use super::DlrForm;
use crate::ids::MessageId;
use crate::lifecycle::MessageState;
use crate::numbers::Destination;
use crate::phone::Msisdn;
use crate::receipt::ReportStatus;
use crate::receipt::{DlrCode, ErrCode};
use crate::sender::{Sender, SenderKind};
use crate::time::Timestamp;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The content of a DLR.
#[derive(Clone, Copy, Debug)]
pub struct DlrPayload<'a> {
    pub message: MessageId,
    pub from: &'a Sender,
    pub to: Msisdn,
    pub status: ReportStatus,
    /// The message's state at the time of the report.
    pub state: MessageState,
    pub err: ErrCode,
    /// When the message was accepted.
    pub submitted_at: Timestamp,
    /// When the status was reached.
    pub at: Timestamp,
}

/// An MO message. It has no `Debug`, because it holds the text.
#[derive(Clone, Copy)]
pub struct InboundPayload<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub text: &'a str,
    pub received_at: Timestamp,
}

/// Returns the body of a DLR.
pub fn dlr(report: &DlrPayload<'_>, form: DlrForm, destination: &Destination<'_>) -> String {
    match form {
        DlrForm::Full => full(report, destination),
        DlrForm::Short => short(report),
    }
}

fn full(report: &DlrPayload<'_>, destination: &Destination<'_>) -> String {
    let err = reported_error(report);
    let network = destination.network;
    Body::default()
        .text("message_id", report.message)
        // Hermod has no batches.
        .text("batch_id", "")
        .text("to", report.to)
        .text("from", with_plus(report.from.as_str()))
        .text("status", status_of(report.status))
        .number("err_code", Some(err.get()))
        .text("err_desc", err.description(report.status))
        .text("submitted_at", report.submitted_at)
        .text("delivered_at", report.at)
        .text("network", destination.operator)
        .text("mcc", destination.mcc().map(|mcc| mcc.to_string()).unwrap_or_default())
        .text("mnc", network.map(|network| network.mnc.to_string()).unwrap_or_default())
        .end()
}

fn short(report: &DlrPayload<'_>) -> String {
    let err = Some(reported_error(report)).filter(|err| *err != ErrCode::NONE);
    Body::default()
        .text("id", report.message)
        .text("to", report.to)
        .text("status", short_status_of(report))
        .number("error_code", err.map(ErrCode::get))
        .text("delivered_at", report.at)
        .end()
}

/// Returns the body of an MO message.
pub fn inbound(message: &InboundPayload<'_>) -> String {
    let InboundPayload { from, to, text, received_at } = *message;
    Body::default()
        .text("from", with_plus(from))
        .text("to", with_plus(to))
        .text("text", text)
        .text("received_at", received_at)
        .end()
}

/// Returns the `status` of the full form, which is ACCEPTD for every message that is not final.
pub const fn status_of(status: ReportStatus) -> &'static str {
    match status {
        ReportStatus::Enroute | ReportStatus::Accepted => DlrCode::Acceptd.as_str(),
        ReportStatus::Final(code) => code.as_str(),
    }
}

/// Returns the `status` of the short form: the message's state, or `unknown` for UNKNOWN, which changes no state.
fn short_status_of(report: &DlrPayload<'_>) -> &'static str {
    match report.status {
        ReportStatus::Final(DlrCode::Unknown) => "unknown",
        // An intermediate report that is sent late must not give the final state.
        ReportStatus::Enroute | ReportStatus::Accepted => MessageState::Enroute.as_str(),
        ReportStatus::Final(
            DlrCode::Delivrd | DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired,
        ) => report.state.as_str(),
    }
}

/// Returns the error code, which is zero on delivery even if the carrier sent one.
fn reported_error(report: &DlrPayload<'_>) -> ErrCode {
    match report.status {
        ReportStatus::Final(DlrCode::Delivrd) => ErrCode::NONE,
        ReportStatus::Enroute
        | ReportStatus::Accepted
        | ReportStatus::Final(
            DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired | DlrCode::Unknown,
        ) => report.err,
    }
}

/// Adds the plus to a number in international format; short codes and names stay unchanged.
fn with_plus(number_or_name: &str) -> Cow<'_, str> {
    let bare = !number_or_name.starts_with('+');
    match Sender::parse(number_or_name).map(|sender| sender.kind()) {
        Ok(SenderKind::International) if bare => Cow::Owned(format!("+{number_or_name}")),
        Ok(SenderKind::International | SenderKind::ShortCode | SenderKind::Alphanumeric) | Err(_) => {
            Cow::Borrowed(number_or_name)
        }
    }
}

/// A JSON object under construction.
#[derive(Default)]
struct Body(String);

impl Body {
    fn text(mut self, name: &str, value: impl fmt::Display) -> Body {
        self.name(name);
        self.0.push('"');
        write!(Escaped(&mut self.0), "{value}").expect("a String takes everything");
        self.0.push('"');
        self
    }

    fn number(mut self, name: &str, value: Option<u16>) -> Body {
        self.name(name);
        match value {
            Some(value) => write!(self.0, "{value}").expect("a String takes everything"),
            None => self.0.push_str("null"),
        }
        self
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
    }
}

/// Writes into a JSON string (RFC 8259 section 7).
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("\\r"),
                '\t' => self.0.push_str("\\t"),
                control if control < ' ' => write!(self.0, "\\u{:04x}", u32::from(control))?,
                other => self.0.push(other),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
}
