//! Framing: splits a stream into PDUs by `command_length`. A frame keeps its header, so that a malformed PDU gets a
//! response with its sequence number. Memory is never reserved by a length that the peer claims.

use bytes::{Buf, Bytes, BytesMut};
use std::fmt;
use thiserror::Error;

use crate::{CommandStatus, DecodeError, HEADER_BYTES, Header, Pdu, pdu};

/// A complete PDU: its header, and its octets shared with the read buffer.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// The parsed header.
    pub header: Header,
    bytes: Bytes,
}

impl Frame {
    /// Returns all octets of the PDU, header included.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the octets after the header.
    pub fn body(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default()
    }

    /// Decodes the PDU without copying or allocating. An error has the status of the response and what to do with the
    /// connection; framing is intact.
    pub fn decode(&self) -> Result<Pdu<'_>, DecodeError> {
        pdu::decode(&self.header, self.body())
    }

    /// Decodes a carrier's request. Unlike [`Frame::decode`], over-long and unterminated strings are cut to their
    /// maximum, invalid TLVs are ignored, and a `data_sm` that is a receipt needs no payload. Also returns the first
    /// field that was cut.
    pub fn decode_from_carrier(&self) -> Result<(Pdu<'_>, Option<&'static str>), DecodeError> {
        pdu::decode_from_carrier(&self.header, self.body())
    }
}

/// Prints only the header, because bodies hold passwords and message text.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { length, command, status, sequence } = self.header;
        write!(f, "Frame({command} seq={sequence} status=0x{:x} {length} octets)", status.0)
    }
}

/// An invalid command_length: the framing is lost. Nack once, then close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("command_length {length} is outside 16..={pdu_bytes_max}")]
pub struct FrameError {
    /// The received command_length.
    pub length: u32,
    /// The limit.
    pub pdu_bytes_max: u32,
    /// The sequence number, if the whole header was received; otherwise the nack has 0 (§4.3).
    pub sequence: Option<u32>,
}

impl FrameError {
    /// The status of the `generic_nack`.
    pub const STATUS: CommandStatus = CommandStatus::INVCMDLEN;
}

/// Removes the next complete PDU from the front of `buf`; `None` if there is none yet. On an error the buffer stays
/// unchanged.
pub fn next_frame(buf: &mut BytesMut, pdu_bytes_max: u32) -> Result<Option<Frame>, FrameError> {
    let Some(mut claimed) = buf.get(..4) else { return Ok(None) };
    let length = claimed.get_u32();
    let header = Header::parse(buf);
    let octets = usize::try_from(length).unwrap_or(usize::MAX);
    if octets < HEADER_BYTES || length > pdu_bytes_max {
        return Err(FrameError { length, pdu_bytes_max, sequence: header.map(|h| h.sequence) });
    }
    match header {
        Some(header) if octets <= buf.len() => {
            Ok(Some(Frame { header, bytes: buf.split_to(octets).freeze() }))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
