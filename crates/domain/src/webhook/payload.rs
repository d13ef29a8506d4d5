//! The bodies of webhooks, field by field as the contract has them. The same facts always give the same octets, so that a
//! repetition has the same body as the first attempt.

use super::DlrForm;
use crate::ids::MessageId;
use crate::lifecycle::MessageState;
use crate::numbers::Destination;
use crate::origin::Told;
use crate::phone::Msisdn;
use crate::receipt::{DlrCode, ErrCode};
use crate::sender::{Sender, SenderKind};
use crate::time::Timestamp;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What a delivery report tells.
#[derive(Clone, Copy, Debug)]
pub struct Dlr<'a> {
    pub message: MessageId,
    pub from: &'a Sender,
    pub to: Msisdn,
    pub told: Told,
    /// The message's state when it was told.
    pub state: MessageState,
    pub err: ErrCode,
    /// When the message was accepted.
    pub submitted_at: Timestamp,
    /// When it became what is told.
    pub at: Timestamp,
}

/// A message from a handset. Without `Debug`: it holds the text.
#[derive(Clone, Copy)]
pub struct InboundFacts<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub text: &'a str,
    pub received_at: Timestamp,
}

/// The body of a delivery report.
pub fn dlr(report: &Dlr<'_>, form: DlrForm, destination: &Destination<'_>) -> String {
    match form {
        DlrForm::Full => json(&Full::of(report, destination)),
        DlrForm::Short => json(&Short::of(report)),
    }
}

/// The body that brings a message from a handset.
pub fn inbound(facts: &InboundFacts<'_>) -> String {
    let InboundFacts { from, to, text, received_at } = *facts;
    json(&Reply { from: &with_plus(from), to: &with_plus(to), text, received_at: Shown(received_at) })
}

#[derive(Serialize)]
struct Full<'a> {
    message_id: Shown<MessageId>,
    batch_id: &'static str,
    to: Shown<Msisdn>,
    from: Cow<'a, str>,
    status: &'static str,
    err_code: u16,
    err_desc: Cow<'static, str>,
    submitted_at: Shown<Timestamp>,
    delivered_at: Shown<Timestamp>,
    network: &'a str,
    mcc: String,
    mnc: String,
}

impl<'a> Full<'a> {
    fn of(report: &'a Dlr<'_>, destination: &Destination<'a>) -> Full<'a> {
        let err = error_told(report);
        Full {
            message_id: Shown(report.message),
            // There are no batches.
            batch_id: "",
            to: Shown(report.to),
            from: with_plus(report.from.as_str()),
            status: status_of(report.told),
            err_code: err.get(),
            err_desc: err.description(report.told),
            submitted_at: Shown(report.submitted_at),
            delivered_at: Shown(report.at),
            network: destination.operator,
            mcc: destination.mcc().map(|mcc| mcc.to_string()).unwrap_or_default(),
            mnc: destination.network.map(|network| network.mnc.to_string()).unwrap_or_default(),
        }
    }
}

#[derive(Serialize)]
struct Short {
    id: Shown<MessageId>,
    to: Shown<Msisdn>,
    status: &'static str,
    error_code: Option<u16>,
    delivered_at: Shown<Timestamp>,
}

impl Short {
    fn of(report: &Dlr<'_>) -> Short {
        Short {
            id: Shown(report.message),
            to: Shown(report.to),
            status: short_status_of(report),
            error_code: Some(error_told(report)).filter(|err| *err != ErrCode::NONE).map(ErrCode::get),
            delivered_at: Shown(report.at),
        }
    }
}

#[derive(Serialize)]
struct Reply<'a> {
    from: &'a str,
    to: &'a str,
    text: &'a str,
    received_at: Shown<Timestamp>,
}

/// The word of the full form. Whatever a carrier calls a message on its way, webhooks say ACCEPTD.
pub const fn status_of(told: Told) -> &'static str {
    match told {
        Told::Enroute | Told::Accepted => DlrCode::Acceptd.as_str(),
        Told::Final(code) => code.as_str(),
    }
}

/// The state's name, except that UNKNOWN, which changes no state, is told as what it is.
fn short_status_of(report: &Dlr<'_>) -> &'static str {
    match report.told {
        Told::Final(DlrCode::Unknown) => "unknown",
        // A late notice must not tell more than it says.
        Told::Enroute | Told::Accepted => MessageState::Enroute.as_str(),
        Told::Final(
            DlrCode::Delivrd | DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired,
        ) => report.state.as_str(),
    }
}

/// Zero on success, whatever the carrier wrote beside it.
fn error_told(report: &Dlr<'_>) -> ErrCode {
    match report.told {
        Told::Final(DlrCode::Delivrd) => ErrCode::NONE,
        Told::Enroute
        | Told::Accepted
        | Told::Final(
            DlrCode::Acceptd | DlrCode::Undeliv | DlrCode::Rejectd | DlrCode::Expired | DlrCode::Unknown,
        ) => report.err,
    }
}

/// A number in international form has its plus, whoever wrote it; short codes and names stay as they are.
fn with_plus(number_or_name: &str) -> Cow<'_, str> {
    let bare = !number_or_name.starts_with('+');
    match Sender::parse(number_or_name).map(|sender| sender.kind()) {
        Ok(SenderKind::International) if bare => Cow::Owned(format!("+{number_or_name}")),
        Ok(SenderKind::International | SenderKind::ShortCode | SenderKind::Alphanumeric) | Err(_) => {
            Cow::Borrowed(number_or_name)
        }
    }
}

/// Written as it is printed.
struct Shown<T>(T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

fn json(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("a body has texts and numbers only")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn report(told: Told, state: MessageState, err: u16, from: &Sender) -> Dlr<'_> {
        Dlr {
            message: MessageId::parse("123456789012345").unwrap(),
            from,
            to: Msisdn::parse("+4915112345678").unwrap(),
            told,
            state,
            err: ErrCode::new(err),
            submitted_at: at("2026-11-15T09:30:00.999Z"),
            at: at("2026-11-15T09:30:02.5Z"),
        }
    }

    #[track_caller]
    fn check(form: DlrForm, told: Told, state: MessageState, err: u16, expect: &str) {
        let from = Sender::parse("Shop").unwrap();
        let body = dlr(&report(told, state, err, &from), form, &Destination::UNKNOWN);
        assert!(body.contains(expect), "{expect} is not in\n{body}");
    }

    #[test]
    fn the_full_form_has_the_contracts_fields_in_its_order() {
        let from = Sender::parse("Shop").unwrap();
        let report = report(Told::Final(DlrCode::Delivrd), MessageState::Delivered, 0, &from);
        let destination = Numbers::embedded().find(report.to);
        assert_eq!(
            dlr(&report, DlrForm::Full, &destination),
            r#"{"message_id":"123456789012345","batch_id":"","to":"+4915112345678","from":"Shop","status":"DELIVRD","err_code":0,"err_desc":"No error","submitted_at":"2026-11-15T09:30:00Z","delivered_at":"2026-11-15T09:30:02Z","network":"T-Mobile","mcc":"262","mnc":"01"}"#
        );
    }

    #[test]
    fn what_is_not_known_of_a_number_is_empty() {
        let told = Told::Final(DlrCode::Delivrd);
        check(DlrForm::Full, told, MessageState::Delivered, 0, r#""network":"","mcc":"","mnc":"""#);
    }

    #[test]
    fn the_short_form_has_the_contracts_fields_in_its_order() {
        let from = Sender::parse("Shop").unwrap();
        let report = report(Told::Final(DlrCode::Undeliv), MessageState::Undeliverable, 27, &from);
        assert_eq!(
            dlr(&report, DlrForm::Short, &Destination::UNKNOWN),
            r#"{"id":"123456789012345","to":"+4915112345678","status":"undeliverable","error_code":27,"delivered_at":"2026-11-15T09:30:02Z"}"#
        );
    }

    #[test]
    fn every_report_has_its_words_in_both_forms() {
        use MessageState as State;
        for (told, state, err, full, short) in [
            (Told::Enroute, State::Enroute, 0, ("ACCEPTD", "No error"), ("enroute", "null")),
            (Told::Accepted, State::Enroute, 0, ("ACCEPTD", "No error"), ("enroute", "null")),
            (
                Told::Final(DlrCode::Delivrd),
                State::Delivered,
                7,
                ("DELIVRD", "No error"),
                ("delivered", "null"),
            ),
            (
                Told::Final(DlrCode::Undeliv),
                State::Undeliverable,
                1,
                ("UNDELIV", "Unknown subscriber"),
                ("undeliverable", "1"),
            ),
            (
                Told::Final(DlrCode::Rejectd),
                State::Undeliverable,
                10_069,
                ("REJECTD", "The carrier refused it: submission failed"),
                ("undeliverable", "10069"),
            ),
            (
                Told::Final(DlrCode::Rejectd),
                State::Rejected,
                0,
                ("REJECTD", "Rejected, no reason given"),
                ("rejected", "null"),
            ),
            (
                Told::Final(DlrCode::Expired),
                State::Expired,
                0,
                ("EXPIRED", "Validity period elapsed"),
                ("expired", "null"),
            ),
            (
                Told::Final(DlrCode::Unknown),
                State::Submitted,
                0,
                ("UNKNOWN", "No receipt from the carrier"),
                ("unknown", "null"),
            ),
        ] {
            let code = if told == Told::Final(DlrCode::Delivrd) { 0 } else { err };
            let (word, words) = full;
            let expect = format!(r#""status":"{word}","err_code":{code},"err_desc":"{words}""#);
            check(DlrForm::Full, told, state, err, &expect);
            let (word, code) = short;
            check(DlrForm::Short, told, state, err, &format!(r#""status":"{word}","error_code":{code},"#));
        }
    }

    #[test]
    fn numbers_have_their_plus_and_names_and_short_codes_stay() {
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
        let report = report(Told::Final(DlrCode::Delivrd), MessageState::Delivered, 0, &from);
        let body = dlr(&report, DlrForm::Full, &Destination::UNKNOWN);
        assert!(body.contains(r#""from":"+4915100000001""#), "{body}");
    }

    #[test]
    fn a_message_from_a_handset_has_four_fields_and_any_text() {
        let facts = InboundFacts {
            from: "4915112345678",
            to: "12345",
            text: "a \"quote\", a\nline and \u{1f600}",
            received_at: at("2026-11-15T09:30:00Z"),
        };
        assert_eq!(
            inbound(&facts),
            "{\"from\":\"+4915112345678\",\"to\":\"12345\",\"text\":\"a \\\"quote\\\", a\\nline and \u{1f600}\",\
             \"received_at\":\"2026-11-15T09:30:00Z\"}"
        );
    }
}
