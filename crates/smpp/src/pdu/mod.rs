//! All PDUs of SMPP 3.4 as borrowed values, and their decoding and encoding.

/// Declares a PDU's fields once: `name: type = verb(arguments)`, where the verb is a method of both `FieldReader` and
/// `FieldWriter`. The order gives the struct, its reader and its writer, so that they can be checked against chapter 4 line
/// by line.
macro_rules! fields {
    ($(#[$meta:meta])* $name:ident<'a> {
        $($(#[$field_meta:meta])* $field:ident: $type:ty = $verb:ident($($argument:expr),*),)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name<'a> {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn read(
                reader: &mut $crate::reader::FieldReader<'a>,
            ) -> Result<Self, $crate::reader::FieldError> {
                Ok($name { $($field: reader.$verb(stringify!($field) $(, $argument)*)?,)* })
            }

            pub(crate) fn write(
                &self,
                writer: &mut $crate::writer::FieldWriter<'_>,
            ) -> Result<(), $crate::EncodeError> {
                $(writer.$verb(stringify!($field), self.$field $(, $argument)*)?;)*
                Ok(())
            }
        }
    };
}

mod bind;
mod manage;
mod message;
mod multi;

pub use bind::{Bind, BindResp, BindType, Outbind, VERSION_3_3, VERSION_3_4};
pub use manage::{AlertNotification, CancelSm, QuerySm, QuerySmResp, ReplaceSm};
pub use message::{DataSm, DataSmResp, DeliverSm, DeliverSmResp, SubmitSm, SubmitSmResp, esm_class};
pub use multi::{
    DestinationEntry, Destinations, DestinationsBuffer, SubmitMulti, SubmitMultiResp, Unsuccessful,
    UnsuccessfulBuffer, UnsuccessfulSme,
};

use bytes::{BufMut, BytesMut};
use thiserror::Error;

use crate::{
    CommandId, CommandStatus, EncodeError, HEADER_BYTES, Header, Hidden, Tag, Tlvs,
    reader::{FieldError, FieldReader},
    writer::FieldWriter,
};

/// The body of a PDU. Status and sequence number are in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pdu<'a> {
    /// `bind_transmitter`, `bind_receiver` or `bind_transceiver`.
    Bind(BindType, Bind<'a>),
    /// The response to a bind of that type.
    BindResp(BindType, BindResp<'a>),
    /// `outbind`
    Outbind(Outbind<'a>),
    /// `unbind`
    Unbind,
    /// `unbind_resp`
    UnbindResp,
    /// `enquire_link`
    EnquireLink,
    /// `enquire_link_resp`
    EnquireLinkResp,
    /// `generic_nack`
    GenericNack,
    /// `submit_sm`
    SubmitSm(SubmitSm<'a>),
    /// `submit_sm_resp`
    SubmitSmResp(SubmitSmResp<'a>),
    /// `submit_multi`
    SubmitMulti(SubmitMulti<'a>),
    /// `submit_multi_resp`
    SubmitMultiResp(SubmitMultiResp<'a>),
    /// `deliver_sm`
    DeliverSm(DeliverSm<'a>),
    /// `deliver_sm_resp`
    DeliverSmResp(DeliverSmResp<'a>),
    /// `data_sm`
    DataSm(DataSm<'a>),
    /// `data_sm_resp`
    DataSmResp(DataSmResp<'a>),
    /// `query_sm`
    QuerySm(QuerySm<'a>),
    /// `query_sm_resp`
    QuerySmResp(QuerySmResp<'a>),
    /// `cancel_sm`
    CancelSm(CancelSm<'a>),
    /// `cancel_sm_resp`
    CancelSmResp,
    /// `replace_sm`
    ReplaceSm(ReplaceSm<'a>),
    /// `replace_sm_resp`
    ReplaceSmResp,
    /// `alert_notification`
    AlertNotification(AlertNotification<'a>),
    /// A command that is not in the 3.4 table, with its body.
    Unknown(CommandId, Hidden<'a>),
}

/// What to do with the connection after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterError {
    /// Respond and continue: framing is intact.
    Continue,
    /// Respond and close.
    Close,
}

/// A PDU with an unreadable body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} seq={}: {field} is unreadable, {status}", header.command, header.sequence)]
pub struct DecodeError {
    /// The status of the response.
    pub status: CommandStatus,
    /// What to do with the connection.
    pub link: AfterError,
    /// The first unreadable field.
    pub field: &'static str,
    /// The header of the request, for the response.
    pub header: Header,
}

/// Decodes a body. Responses are read leniently, because a malformed response must not cost the result it carries.
pub(crate) fn decode<'a>(header: &Header, body: &'a [u8]) -> Result<Pdu<'a>, DecodeError> {
    decode_with(header, FieldReader::new(body)).map(|(pdu, _)| pdu)
}

/// Decodes a carrier's request as leniently as its responses. Also returns the first field that was cut.
pub(crate) fn decode_from_carrier<'a>(
    header: &Header,
    body: &'a [u8],
) -> Result<(Pdu<'a>, Option<&'static str>), DecodeError> {
    decode_with(header, FieldReader::lenient(body))
}

fn decode_with<'a>(
    header: &Header,
    mut reader: FieldReader<'a>,
) -> Result<(Pdu<'a>, Option<&'static str>), DecodeError> {
    let read = read_body(header.command, &mut reader);
    let read = match read {
        // A response with an error status has no body (§4.4.2); an unreadable one is ignored.
        Err(_) if header.command.is_response() && !header.status.is_ok() => {
            read_body(header.command, &mut FieldReader::new(EMPTY_RESPONSE))
        }
        other => other,
    };
    read.map(|pdu| (pdu, reader.cut())).map_err(|FieldError { status, field }| {
        let link = match header.command {
            CommandId::BIND_RECEIVER | CommandId::BIND_TRANSMITTER | CommandId::BIND_TRANSCEIVER => {
                AfterError::Close
            }
            _ => AfterError::Continue,
        };
        DecodeError { status, link, field, header: *header }
    })
}

/// Enough nulls to decode as an empty response of any kind.
const EMPTY_RESPONSE: &[u8] = &[0; 4];

fn read_body<'a>(command: CommandId, reader: &mut FieldReader<'a>) -> Result<Pdu<'a>, FieldError> {
    Ok(match command {
        CommandId::SUBMIT_SM => Pdu::SubmitSm(SubmitSm::read(reader)?),
        CommandId::SUBMIT_SM_RESP => Pdu::SubmitSmResp(SubmitSmResp::read(reader)?),
        CommandId::DELIVER_SM => Pdu::DeliverSm(DeliverSm::read(reader)?),
        CommandId::DELIVER_SM_RESP => Pdu::DeliverSmResp(DeliverSmResp::read(reader)?),
        CommandId::BIND_RECEIVER => Pdu::Bind(BindType::Receiver, Bind::read(reader)?),
        CommandId::BIND_TRANSMITTER => Pdu::Bind(BindType::Transmitter, Bind::read(reader)?),
        CommandId::BIND_TRANSCEIVER => Pdu::Bind(BindType::Transceiver, Bind::read(reader)?),
        CommandId::BIND_RECEIVER_RESP => Pdu::BindResp(BindType::Receiver, BindResp::read(reader)?),
        CommandId::BIND_TRANSMITTER_RESP => Pdu::BindResp(BindType::Transmitter, BindResp::read(reader)?),
        CommandId::BIND_TRANSCEIVER_RESP => Pdu::BindResp(BindType::Transceiver, BindResp::read(reader)?),
        CommandId::OUTBIND => Pdu::Outbind(Outbind::read(reader)?),
        CommandId::UNBIND => Pdu::Unbind,
        CommandId::UNBIND_RESP => Pdu::UnbindResp,
        CommandId::ENQUIRE_LINK => Pdu::EnquireLink,
        CommandId::ENQUIRE_LINK_RESP => Pdu::EnquireLinkResp,
        CommandId::GENERIC_NACK => Pdu::GenericNack,
        CommandId::SUBMIT_MULTI => Pdu::SubmitMulti(SubmitMulti::read(reader)?),
        CommandId::SUBMIT_MULTI_RESP => Pdu::SubmitMultiResp(SubmitMultiResp::read(reader)?),
        CommandId::DATA_SM => Pdu::DataSm(read_data_sm(reader)?),
        CommandId::DATA_SM_RESP => Pdu::DataSmResp(DataSmResp::read(reader)?),
        CommandId::QUERY_SM => Pdu::QuerySm(QuerySm::read(reader)?),
        CommandId::QUERY_SM_RESP => Pdu::QuerySmResp(QuerySmResp::read(reader)?),
        CommandId::CANCEL_SM => Pdu::CancelSm(CancelSm::read(reader)?),
        CommandId::CANCEL_SM_RESP => Pdu::CancelSmResp,
        CommandId::REPLACE_SM => Pdu::ReplaceSm(ReplaceSm::read(reader)?),
        CommandId::REPLACE_SM_RESP => Pdu::ReplaceSmResp,
        CommandId::ALERT_NOTIFICATION => Pdu::AlertNotification(AlertNotification::read(reader)?),
        unknown => Pdu::Unknown(unknown, Hidden(reader.rest())),
    })
}

fn read_data_sm<'a>(reader: &mut FieldReader<'a>) -> Result<DataSm<'a>, FieldError> {
    let data_sm = DataSm::read(reader)?;
    // Some carriers mark receipts only by TLVs.
    let is_receipt = reader.is_lenient() && data_sm.tlvs.get(Tag::RECEIPTED_MESSAGE_ID).is_some();
    if data_sm.lacks_payload() && !is_receipt {
        return Err(FieldError { status: CommandStatus::MISSINGOPTPARAM, field: "message_payload" });
    }
    Ok(data_sm)
}

/// Appends a PDU to `out`. A response with an error status has no body (§4.4.2). On an error nothing is appended.
pub fn encode(
    pdu: &Pdu<'_>,
    status: CommandStatus,
    sequence: u32,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    let start = out.len();
    let command = pdu.command();
    let mut writer = FieldWriter::new(out);
    for field in [0, command.0, status.0, sequence] {
        writer.u32(field);
    }
    if status.is_ok() || !command.is_response() {
        let written = pdu.write(&mut writer);
        writer.finish();
        written.inspect_err(|_| out.truncate(start))?;
    } else {
        writer.finish();
    }
    let length = u32::try_from(out.len().saturating_sub(start)).unwrap_or(u32::MAX);
    if let Some(field) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
        *field = length.to_be_bytes();
    }
    Ok(())
}

/// Appends a PDU without a body: error responses, nacks, `enquire_link` and `unbind`.
pub fn encode_header(command: CommandId, status: CommandStatus, sequence: u32, out: &mut BytesMut) {
    out.reserve(HEADER_BYTES);
    out.put_u32(16);
    out.put_u32(command.0);
    out.put_u32(status.0);
    out.put_u32(sequence);
}

impl Pdu<'_> {
    /// Returns the command id.
    pub const fn command(&self) -> CommandId {
        match self {
            Pdu::Bind(kind, _) => kind.request(),
            Pdu::BindResp(kind, _) => kind.response(),
            Pdu::Outbind(_) => CommandId::OUTBIND,
            Pdu::Unbind => CommandId::UNBIND,
            Pdu::UnbindResp => CommandId::UNBIND_RESP,
            Pdu::EnquireLink => CommandId::ENQUIRE_LINK,
            Pdu::EnquireLinkResp => CommandId::ENQUIRE_LINK_RESP,
            Pdu::GenericNack => CommandId::GENERIC_NACK,
            Pdu::SubmitSm(_) => CommandId::SUBMIT_SM,
            Pdu::SubmitSmResp(_) => CommandId::SUBMIT_SM_RESP,
            Pdu::SubmitMulti(_) => CommandId::SUBMIT_MULTI,
            Pdu::SubmitMultiResp(_) => CommandId::SUBMIT_MULTI_RESP,
            Pdu::DeliverSm(_) => CommandId::DELIVER_SM,
            Pdu::DeliverSmResp(_) => CommandId::DELIVER_SM_RESP,
            Pdu::DataSm(_) => CommandId::DATA_SM,
            Pdu::DataSmResp(_) => CommandId::DATA_SM_RESP,
            Pdu::QuerySm(_) => CommandId::QUERY_SM,
            Pdu::QuerySmResp(_) => CommandId::QUERY_SM_RESP,
            Pdu::CancelSm(_) => CommandId::CANCEL_SM,
            Pdu::CancelSmResp => CommandId::CANCEL_SM_RESP,
            Pdu::ReplaceSm(_) => CommandId::REPLACE_SM,
            Pdu::ReplaceSmResp => CommandId::REPLACE_SM_RESP,
            Pdu::AlertNotification(_) => CommandId::ALERT_NOTIFICATION,
            Pdu::Unknown(command, _) => *command,
        }
    }

    /// Returns the TLVs; none for a PDU that has no TLVs.
    pub const fn tlvs(&self) -> Tlvs<'_> {
        match self {
            Pdu::BindResp(_, pdu) => pdu.tlvs,
            Pdu::SubmitSm(pdu) => pdu.tlvs,
            Pdu::SubmitSmResp(pdu) => pdu.tlvs,
            Pdu::SubmitMulti(pdu) => pdu.tlvs,
            Pdu::SubmitMultiResp(pdu) => pdu.tlvs,
            Pdu::DeliverSm(pdu) => pdu.tlvs,
            Pdu::DeliverSmResp(pdu) => pdu.tlvs,
            Pdu::DataSm(pdu) => pdu.tlvs,
            Pdu::DataSmResp(pdu) => pdu.tlvs,
            Pdu::AlertNotification(pdu) => pdu.tlvs,
            _ => Tlvs::EMPTY,
        }
    }

    /// Whether the PDU needs 3.4: 3.3 has no `data_sm` and no TLVs (§3.4).
    pub(crate) fn needs_3_4(&self) -> bool {
        matches!(self, Pdu::DataSm(_)) || !self.tlvs().is_empty()
    }

    fn write(&self, writer: &mut FieldWriter<'_>) -> Result<(), EncodeError> {
        match self {
            Pdu::Bind(_, pdu) => pdu.write(writer),
            Pdu::BindResp(_, pdu) => pdu.write(writer),
            Pdu::Outbind(pdu) => pdu.write(writer),
            Pdu::SubmitSm(pdu) => pdu.write(writer),
            Pdu::SubmitSmResp(pdu) => pdu.write(writer),
            Pdu::SubmitMulti(pdu) => pdu.write(writer),
            Pdu::SubmitMultiResp(pdu) => pdu.write(writer),
            Pdu::DeliverSm(pdu) => pdu.write(writer),
            Pdu::DeliverSmResp(pdu) => pdu.write(writer),
            Pdu::DataSm(pdu) => pdu.write(writer),
            Pdu::DataSmResp(pdu) => pdu.write(writer),
            Pdu::QuerySm(pdu) => pdu.write(writer),
            Pdu::QuerySmResp(pdu) => pdu.write(writer),
            Pdu::CancelSm(pdu) => pdu.write(writer),
            Pdu::ReplaceSm(pdu) => pdu.write(writer),
            Pdu::AlertNotification(pdu) => pdu.write(writer),
            Pdu::Unknown(_, body) => {
                writer.raw(body);
                Ok(())
            }
            Pdu::Unbind
            | Pdu::UnbindResp
            | Pdu::EnquireLink
            | Pdu::EnquireLinkResp
            | Pdu::GenericNack
            | Pdu::CancelSmResp
            | Pdu::ReplaceSmResp => Ok(()),
        }
    }
}
