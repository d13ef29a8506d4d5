//! All PDUs of SMPP 3.4 as borrowed values, and their decoding and encoding.

/// Declares a PDU's fields once: `name: type = verb(arguments)`, where the verb is a method of both `FieldReader` and
/// `FieldWriter`. The order gives the struct, its reader, its writer and its trace, so that they can be checked against
/// chapter 4 line by line. A trace has the field's name unless `as` gives another. `[if_set]` omits a value that is at its
/// default, `[never]` the value in any case; `[after_receipt]` writes the fields of a receipt first, `[number]` in decimal.
macro_rules! fields {
    ($(#[$meta:meta])* $name:ident<'a> {
        $($(#[$field_meta:meta])* $field:ident: $type:ty = $verb:ident($($argument:expr),*)
            $(as $label:literal)? $([$rule:ident])?,)*
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

            pub(crate) fn trace(&self, line: &mut $crate::trace_text::TraceText) {
                $(fields!(@trace self, line, $field, [$($label,)? stringify!($field)], $($rule)?);)*
            }
        }
    };
    (@trace $pdu:ident, $line:ident, $field:ident, $names:expr,) => {
        $crate::trace_text::Traced::trace($pdu.$field, $names[0], $line);
    };
    (@trace $pdu:ident, $line:ident, $field:ident, $names:expr, if_set) => {
        if $crate::trace_text::is_set($pdu.$field) {
            fields!(@trace $pdu, $line, $field, $names,);
        }
    };
    (@trace $pdu:ident, $line:ident, $field:ident, $names:expr, never) => {};
    (@trace $pdu:ident, $line:ident, $field:ident, $names:expr, number) => {
        $line.field($names[0], $pdu.$field);
    };
    (@trace $pdu:ident, $line:ident, $field:ident, $names:expr, after_receipt) => {
        // Recognised by `esm_class` only, which a subscriber cannot set.
        if $pdu.esm_class & (esm_class::RECEIPT | esm_class::INTERMEDIATE) != 0 {
            $line.receipt(&$pdu.text());
        }
        fields!(@trace $pdu, $line, $field, $names,);
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
    trace_text::{TraceText, Traced},
    writer::FieldWriter,
};

/// Declares all PDUs besides the binds once: those with fields, and those without a body.
macro_rules! pdus {
    (with fields { $($name:ident = $command:ident,)* } empty { $($empty:ident = $empty_command:ident,)* }) => {
        /// The body of a PDU. Status and sequence number are in the header.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Pdu<'a> {
            /// `bind_transmitter`, `bind_receiver` or `bind_transceiver`.
            Bind(BindType, Bind<'a>),
            /// The response to a bind of that type.
            BindResp(BindType, BindResp<'a>),
            $(#[doc = concat!("[`CommandId::", stringify!($command), "`]")] $name($name<'a>),)*
            $(#[doc = concat!("[`CommandId::", stringify!($empty_command), "`]")] $empty,)*
            /// A command that is not in the 3.4 table, with its body.
            Unknown(CommandId, Hidden<'a>),
        }

        fn read_body<'a>(command: CommandId, reader: &mut FieldReader<'a>) -> Result<Pdu<'a>, FieldError> {
            Ok(match command {
                CommandId::BIND_RECEIVER => Pdu::Bind(BindType::Receiver, Bind::read(reader)?),
                CommandId::BIND_TRANSMITTER => Pdu::Bind(BindType::Transmitter, Bind::read(reader)?),
                CommandId::BIND_TRANSCEIVER => Pdu::Bind(BindType::Transceiver, Bind::read(reader)?),
                CommandId::BIND_RECEIVER_RESP => Pdu::BindResp(BindType::Receiver, BindResp::read(reader)?),
                CommandId::BIND_TRANSMITTER_RESP => Pdu::BindResp(BindType::Transmitter, BindResp::read(reader)?),
                CommandId::BIND_TRANSCEIVER_RESP => Pdu::BindResp(BindType::Transceiver, BindResp::read(reader)?),
                $(CommandId::$command => Pdu::$name($name::read(reader)?),)*
                $(CommandId::$empty_command => Pdu::$empty,)*
                unknown => Pdu::Unknown(unknown, Hidden(reader.rest())),
            })
        }

        impl Pdu<'_> {
            /// Returns the command id.
            pub const fn command(&self) -> CommandId {
                match self {
                    Pdu::Bind(kind, _) => kind.request(),
                    Pdu::BindResp(kind, _) => kind.response(),
                    $(Pdu::$name(_) => CommandId::$command,)*
                    $(Pdu::$empty => CommandId::$empty_command,)*
                    Pdu::Unknown(command, _) => *command,
                }
            }

            fn write(&self, writer: &mut FieldWriter<'_>) -> Result<(), EncodeError> {
                match self {
                    Pdu::Bind(_, pdu) => pdu.write(writer),
                    Pdu::BindResp(_, pdu) => pdu.write(writer),
                    $(Pdu::$name(pdu) => pdu.write(writer),)*
                    $(Pdu::$empty)|* => Ok(()),
                    Pdu::Unknown(_, body) => {
                        writer.raw(body);
                        Ok(())
                    }
                }
            }

            /// Writes the fields into a trace line, in their order.
            pub(crate) fn trace(&self, line: &mut TraceText) {
                match self {
                    Pdu::Bind(_, pdu) => pdu.trace(line),
                    Pdu::BindResp(_, pdu) => pdu.trace(line),
                    $(Pdu::$name(pdu) => pdu.trace(line),)*
                    $(Pdu::$empty)|* => {}
                    Pdu::Unknown(_, body) => body.trace("body", line),
                }
            }
        }
    };
}

pdus! {
    with fields {
        SubmitSm = SUBMIT_SM,
        SubmitSmResp = SUBMIT_SM_RESP,
        DeliverSm = DELIVER_SM,
        DeliverSmResp = DELIVER_SM_RESP,
        Outbind = OUTBIND,
        SubmitMulti = SUBMIT_MULTI,
        SubmitMultiResp = SUBMIT_MULTI_RESP,
        DataSm = DATA_SM,
        DataSmResp = DATA_SM_RESP,
        QuerySm = QUERY_SM,
        QuerySmResp = QUERY_SM_RESP,
        CancelSm = CANCEL_SM,
        ReplaceSm = REPLACE_SM,
        AlertNotification = ALERT_NOTIFICATION,
    }
    empty {
        Unbind = UNBIND,
        UnbindResp = UNBIND_RESP,
        EnquireLink = ENQUIRE_LINK,
        EnquireLinkResp = ENQUIRE_LINK_RESP,
        GenericNack = GENERIC_NACK,
        CancelSmResp = CANCEL_SM_RESP,
        ReplaceSmResp = REPLACE_SM_RESP,
    }
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
    let read = read.and_then(|pdu| check_payload(&pdu, &reader).map(|()| pdu));
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

/// Requires the payload of a `data_sm`, except in a receipt.
fn check_payload(pdu: &Pdu<'_>, reader: &FieldReader<'_>) -> Result<(), FieldError> {
    let Pdu::DataSm(data_sm) = pdu else { return Ok(()) };
    // Some carriers mark receipts only by TLVs.
    let is_receipt = reader.is_lenient() && data_sm.tlvs.get(Tag::RECEIPTED_MESSAGE_ID).is_some();
    if data_sm.lacks_payload() && !is_receipt {
        return Err(FieldError { status: CommandStatus::MISSINGOPTPARAM, field: "message_payload" });
    }
    Ok(())
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
}
