//! PDUs as text lines, for troubleshooting links and binds. Passwords are never written, message texts and payloads only as
//! lengths. The fields of a receipt text are written up to the quoted message.
//!
//! Tracing allocates, so it is off unless the operator or the customer requests it.

#[cfg(test)]
mod tests;

pub use crate::trace_text::DETAILS_CHARS_MAX;

use std::{borrow::Cow, fmt};

use crate::{
    CommandId, CommandStatus, Frame, HEADER_BYTES, Header, Hidden, ReceiptDialect, pdu,
    trace_text::{TraceText, Traced},
};

/// A traced PDU; `Display` writes it as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedPdu {
    /// Which PDU it is.
    pub command: CommandId,
    /// Meaningful in responses.
    pub status: CommandStatus,
    /// Matches a response to its request.
    pub sequence: u32,
    /// Octets of the whole PDU.
    pub length: u32,
    /// The body's fields: printable ASCII, at most [`DETAILS_CHARS_MAX`] characters.
    pub details: String,
}

/// Traces a received PDU. `dialect` is the receipt dialect of the carrier, or the standard one on a customer's bind.
pub fn describe(frame: &Frame, dialect: ReceiptDialect) -> TracedPdu {
    trace_pdu(frame.header, frame.body(), dialect)
}

/// Traces every PDU in `octets`, such as a session's output, and stops at an incomplete one.
pub fn describe_all(octets: &[u8], dialect: ReceiptDialect) -> impl Iterator<Item = TracedPdu> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        let header = Header::parse(rest)?;
        let (pdu, remaining) = rest.split_at_checked(usize::try_from(header.length).ok()?)?;
        let body = pdu.get(HEADER_BYTES..)?;
        rest = remaining;
        Some(trace_pdu(header, body, dialect))
    })
}

fn trace_pdu(header: Header, body: &[u8], dialect: ReceiptDialect) -> TracedPdu {
    let Header { length, command, status, sequence } = header;
    let mut line = TraceText::new(dialect);
    match pdu::decode(&header, body) {
        Ok(pdu) => pdu.trace(&mut line),
        Err(error) => {
            line.field("unreadable", error.field);
            line.field("because", error.status);
            Hidden(body).trace("body", &mut line);
        }
    }
    TracedPdu { command, status, sequence, length, details: line.finish() }
}

impl TracedPdu {
    /// Returns the specification's name of the command, or its number.
    pub fn command_name(&self) -> Cow<'static, str> {
        name_or_number(self.command.name(), self.command.0)
    }

    /// Returns the specification's name of the status, or its number.
    pub fn status_name(&self) -> Cow<'static, str> {
        name_or_number(self.status.name(), self.status.0)
    }
}

fn name_or_number(name: Option<&'static str>, number: u32) -> Cow<'static, str> {
    name.map_or_else(|| Cow::Owned(format!("0x{number:08x}")), Cow::Borrowed)
}

impl fmt::Display for TracedPdu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seq={}", self.command_name(), self.sequence)?;
        if self.command.is_response() || !self.status.is_ok() {
            write!(f, " status={}", self.status_name())?;
        }
        if !self.details.is_empty() {
            write!(f, " {}", self.details)?;
        }
        Ok(())
    }
}
