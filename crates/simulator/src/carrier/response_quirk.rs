//! How an answer is put on the wire: as the specification has it, or with one of the oddities that carriers are
//! known for. Its meaning stays the same; only a strict reader stumbles.

use bytes::{BufMut, BytesMut};
use hermod_smpp::{CommandId, CommandStatus, Hidden, Pdu, SubmitSmResp, Tag, TlvBuffer};

/// A tag of the vendors' range that nobody knows.
pub(super) const UNKNOWN_TAG: Tag = Tag(0x1fee);
const UNKNOWN_VALUE: &[u8] = b"hermod-sim";
/// What trails: too short to be a TLV.
const TRAILING: &[u8] = &[0xde, 0xad, 0xbe];
/// ByteStream of an id at most.
const ID_BYTES_MAX: usize = 64;
/// ByteStream of a PDU before its command_id.
const LENGTH_BYTES: usize = 4;

/// How an answer to a submit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseQuirk {
    Plain,
    /// A success is its header alone: taken, but under no id.
    NoBody,
    /// A success has an empty id.
    EmptyId,
    /// A success has an id of more octets than SMPP allows: 64 (v3.4 §5.2.23).
    LongId,
    /// A success carries a TLV that nobody knows.
    UnknownTlv,
    /// A success has octets behind its end that make no TLV.
    TrailingOctets,
    /// An error has a body, as if it were a success.
    BodyOnError,
}

/// A success under this id.
pub(super) fn success<'a>(
    quirk: ResponseQuirk,
    id: &'a [u8],
    tlvs: &'a mut TlvBuffer,
    body: &'a mut Vec<u8>,
) -> Pdu<'a> {
    match quirk {
        ResponseQuirk::Plain | ResponseQuirk::BodyOnError => {
            Pdu::SubmitSmResp(SubmitSmResp { message_id: id, ..SubmitSmResp::default() })
        }
        ResponseQuirk::NoBody => Pdu::Unknown(CommandId::SUBMIT_SM_RESP, Hidden(b"")),
        ResponseQuirk::EmptyId => Pdu::SubmitSmResp(SubmitSmResp::default()),
        ResponseQuirk::LongId => {
            body.clear();
            body.resize(ID_BYTES_MAX, b'0');
            body.extend_from_slice(id);
            body.push(0);
            Pdu::Unknown(CommandId::SUBMIT_SM_RESP, Hidden(body))
        }
        ResponseQuirk::UnknownTlv => {
            *tlvs = TlvBuffer::new();
            tlvs.push(UNKNOWN_TAG, UNKNOWN_VALUE);
            Pdu::SubmitSmResp(SubmitSmResp { message_id: id, tlvs: tlvs.as_tlvs() })
        }
        ResponseQuirk::TrailingOctets => {
            body.clear();
            body.extend_from_slice(id);
            body.push(0);
            body.extend_from_slice(TRAILING);
            Pdu::Unknown(CommandId::SUBMIT_SM_RESP, Hidden(body))
        }
    }
}

/// Adds to the error answer that starts at `start` the body that it should not have. Nothing stands behind it.
pub(super) fn add_body(output: &mut BytesMut, start: usize) {
    output.put_slice(b"0\0");
    let length = u32::try_from(output.len() - start).expect("an answer is short");
    output[start..][..LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// Makes a generic_nack of the error answer that starts at `start`.
pub(super) fn make_nack(output: &mut BytesMut, start: usize) {
    let command = CommandId::GENERIC_NACK.0.to_be_bytes();
    output[start + LENGTH_BYTES..][..command.len()].copy_from_slice(&command);
}

const UNUSED_SEQUENCE: u32 = 0x7fff_fff0;

/// A header whose length is a lie, and a few octets more. Its sequence number is nobody's, so that a nack of it is not
/// taken for the answer to something else.
pub(super) fn bad_length(length: u32, output: &mut BytesMut) {
    for field in [length, CommandId::ENQUIRE_LINK.0, CommandStatus::OK.0, UNUSED_SEQUENCE] {
        output.put_u32(field);
    }
    output.put_slice(&[0xff; 16]);
}
