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
mod tests {
    use super::*;
    use crate::CommandId;

    const ENQUIRE_LINK: [u8; 16] = [0, 0, 0, 16, 0, 0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 9];

    #[test]
    fn frame_is_returned_only_when_complete() {
        let mut buf = BytesMut::new();
        for octet in &ENQUIRE_LINK[..15] {
            buf.extend_from_slice(&[*octet]);
            assert_eq!(next_frame(&mut buf, 16_384), Ok(None));
        }
        buf.extend_from_slice(&ENQUIRE_LINK[15..]);
        let frame = next_frame(&mut buf, 16_384).unwrap().unwrap();
        assert_eq!(frame.header.command, CommandId::ENQUIRE_LINK);
        assert_eq!(frame.header.sequence, 9);
        assert_eq!(frame.body(), b"");
        assert!(buf.is_empty());
    }

    #[test]
    fn octets_after_a_frame_stay_in_the_buffer() {
        let mut buf = BytesMut::from(&[ENQUIRE_LINK, ENQUIRE_LINK].concat()[..]);
        buf.extend_from_slice(b"\0\0");
        assert!(next_frame(&mut buf, 16_384).unwrap().is_some());
        assert!(next_frame(&mut buf, 16_384).unwrap().is_some());
        assert_eq!(next_frame(&mut buf, 16_384), Ok(None));
        assert_eq!(&buf[..], b"\0\0");
    }

    /// Contract section 1.2, first two rows: port scanners get one nack and cost no memory.
    #[test]
    fn invalid_lengths_are_refused_before_memory_is_reserved() {
        let cases: [(&[u8], Option<u32>, Option<u32>); 7] = [
            (b"HTTP", Some(0x4854_5450), None),
            (b"AMQP\0\0\x09\x01", Some(0x414d_5150), None),
            (b"\x16\x03\x01\x02\x00", Some(0x1603_0102), None),
            (&[0, 0, 0, 15], Some(15), None),
            (&[0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 7], Some(0), Some(7)),
            (&[0, 0, 64, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8], Some(16_385), Some(8)),
            (&[0, 0, 64, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8], None, None),
        ];
        for (octets, length, sequence) in cases {
            let mut buf = BytesMut::from(octets);
            let capacity = buf.capacity();
            match (next_frame(&mut buf, 16_384), length) {
                (Err(e), Some(length)) => assert_eq!((e.length, e.sequence), (length, sequence)),
                (Ok(None), None) => {}
                (other, _) => panic!("{octets:?} gave {other:?}"),
            }
            assert_eq!(buf.capacity(), capacity);
        }
    }
}
