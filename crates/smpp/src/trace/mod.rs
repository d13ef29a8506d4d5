//! PDUs as lines for people: every command and every field that helps to find out what went wrong with a link.
//! Passwords never appear, message texts and payloads only as lengths. The text of a receipt is shown value by
//! value up to the message's own words, because that is what most questions are about.
//!
//! Nothing here is on the way of a message: a trace allocates, and is asked for.

mod fields;
mod line;

#[cfg(test)]
mod tests;

pub use line::DETAILS_CHARS_MAX;

use std::{borrow::Cow, fmt};

use crate::{CommandId, CommandStatus, Frame, HEADER_BYTES, Header, ReceiptDialect, pdu};
use line::Line;

/// One PDU, told. As a line by `Display`, or field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Which PDU it is.
    pub command: CommandId,
    /// Meaningful in answers.
    pub status: CommandStatus,
    /// Matches an answer to its request.
    pub sequence: u32,
    /// Octets of the whole PDU.
    pub length: u32,
    /// What its body says: printable ASCII, at most [`DETAILS_CHARS_MAX`] of it.
    pub details: String,
}

/// Tells a PDU that was read. `dialect` is the carrier's, for its receipts.
pub fn describe(frame: &Frame, dialect: ReceiptDialect) -> Traced {
    told(frame.header, frame.body(), dialect)
}

/// Tells every whole PDU in `octets`, as a session's output holds them, and stops where one is not whole.
pub fn describe_all(octets: &[u8], dialect: ReceiptDialect) -> impl Iterator<Item = Traced> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        let header = Header::parse(rest)?;
        let (pdu, behind) = rest.split_at_checked(usize::try_from(header.length).ok()?)?;
        let body = pdu.get(HEADER_BYTES..)?;
        rest = behind;
        Some(told(header, body, dialect))
    })
}

fn told(header: Header, body: &[u8], dialect: ReceiptDialect) -> Traced {
    let Header { length, command, status, sequence } = header;
    let mut line = Line::default();
    match pdu::decode(&header, body) {
        Ok(pdu) => fields::tell(&mut line, &pdu, dialect),
        Err(fault) => {
            line.field("unreadable", fault.field);
            line.field("because", fault.status);
            line.hidden("body", body.len());
        }
    }
    Traced { command, status, sequence, length, details: line.finish() }
}

impl Traced {
    /// The specification's name, or the number where it has none.
    pub fn command_name(&self) -> Cow<'static, str> {
        name_or_number(self.command.name(), self.command.0)
    }

    /// The specification's name, or the number where it has none.
    pub fn status_name(&self) -> Cow<'static, str> {
        name_or_number(self.status.name(), self.status.0)
    }
}

fn name_or_number(name: Option<&'static str>, number: u32) -> Cow<'static, str> {
    name.map_or_else(|| Cow::Owned(format!("0x{number:08x}")), Cow::Borrowed)
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seq={}", self.command_name(), self.sequence)?;
        if self.command.is_answer() || !self.status.is_ok() {
            write!(f, " status={}", self.status_name())?;
        }
        if !self.details.is_empty() {
            write!(f, " {}", self.details)?;
        }
        Ok(())
    }
}
