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
#[path = "payload_tests.rs"]
mod tests;
