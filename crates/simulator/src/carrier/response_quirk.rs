//! Deviations from SMPP in responses that real carriers are known for. The meaning of the response stays the same.

use bytes::{BufMut, BytesMut};
use hermod_smpp::{CommandId, CommandStatus, Hidden, Pdu, SubmitSmResp, Tag, TlvBuffer};
use serde::Deserialize;

/// An unassigned tag of the vendor range.
pub(super) const UNKNOWN_TAG: Tag = Tag(0x1fee);
const UNKNOWN_VALUE: &[u8] = b"hermod-sim";
/// Too short to be a TLV.
const TRAILING: &[u8] = &[0xde, 0xad, 0xbe];
/// The id of every success that has the same.
const SAME_ID: &[u8] = b"1";
/// Octets of a message_id (SMPP v3.4 §5.2.23).
const ID_BYTES_MAX: usize = 64;
/// Octets of command_length, which precedes command_id.
const LENGTH_BYTES: usize = 4;
/// Used by no request, so that a nack of it is not matched to one.
const UNUSED_SEQUENCE: u32 = 0x7fff_fff0;

/// How a submit_sm_resp deviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseQuirk {
    #[default]
    None,
    /// A success is a header without a body, so without an id.
    NoBody,
    /// A success has an empty id.
    EmptyId,
    /// A success has an id of more than 64 octets.
    LongId,
    /// A success has an id that others have too.
    SameId,
    /// A success has an unknown TLV.
    UnknownTlv,
    /// A success has octets after its end that are no TLV.
    TrailingOctets,
    /// An error has a body.
    BodyOnError,
}

/// Returns the success response with this id.
pub(super) fn success<'a>(
    quirk: ResponseQuirk,
    id: &'a [u8],
    tlvs: &'a mut TlvBuffer,
    body: &'a mut Vec<u8>,
) -> Pdu<'a> {
    match quirk {
        ResponseQuirk::None | ResponseQuirk::BodyOnError => {
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
        ResponseQuirk::SameId => {
            Pdu::SubmitSmResp(SubmitSmResp { message_id: SAME_ID, ..SubmitSmResp::default() })
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

/// Appends a body to the error response that starts at `start` and ends the output.
pub(super) fn add_body(output: &mut BytesMut, start: usize) {
    output.put_slice(b"0\0");
    let length = u32::try_from(output.len() - start).expect("a response is short");
    output[start..][..LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// Turns the error response that starts at `start` into a generic_nack.
pub(super) fn make_nack(output: &mut BytesMut, start: usize) {
    let command = CommandId::GENERIC_NACK.0.to_be_bytes();
    output[start + LENGTH_BYTES..][..command.len()].copy_from_slice(&command);
}

/// Writes a PDU header with a false command_length, and a few octets more.
pub(super) fn bad_length(length: u32, output: &mut BytesMut) {
    for field in [length, CommandId::ENQUIRE_LINK.0, CommandStatus::OK.0, UNUSED_SEQUENCE] {
        output.put_u32(field);
    }
    output.put_slice(&[0xff; 16]);
}
