//! `submit_multi` (§4.5). Its lists stay raw, as TLVs do, so that reading them allocates nothing.

use bytes::BytesMut;
use std::fmt;

use super::message::{ADDRESS_BYTES, MESSAGE_ID_BYTES, SERVICE_TYPE_BYTES, SHORT_MESSAGE_BYTES, TIME_BYTES};
use crate::{
    Address, CommandStatus, EncodeError, EncodeErrorKind, Hidden, Tlvs,
    reader::{FieldError, FieldReader},
    tlv,
    writer::FieldWriter,
};

/// The maximum of `number_of_dests` (§4.5.1).
const DESTINATIONS_MAX: u8 = 254;
const SME_ADDRESS: u8 = 1;
const DISTRIBUTION_LIST: u8 = 2;

fields! {
    /// One message to several recipients.
    SubmitMulti<'a> {
        /// Up to 5 octets, empty for the default.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP),
        /// The sender.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The recipient.
        destinations: Destinations<'a> = destinations(),
        /// Mode, type and features; see [`super::esm_class`].
        esm_class: u8 = octet(),
        /// GSM protocol identifier.
        protocol_id: u8 = octet(),
        /// 0 to 3.
        priority_flag: u8 = octet(),
        /// Empty for immediate delivery; see [`crate::time`].
        schedule_delivery_time: &'a [u8] = text(TIME_BYTES, CommandStatus::INVSCHED),
        /// Empty for the default; see [`crate::time`].
        validity_period: &'a [u8] = text(TIME_BYTES, CommandStatus::INVEXPIRY),
        /// The requested receipts.
        registered_delivery: u8 = octet(),
        /// 1 replaces an earlier message.
        replace_if_present_flag: u8 = octet(),
        /// Alphabet and class of the text.
        data_coding: u8 = octet(),
        /// A predefined message, 0 for none.
        sm_default_msg_id: u8 = octet(),
        /// The text, or UDH and text; never printed.
        short_message: Hidden<'a> = short_message(SHORT_MESSAGE_BYTES),
        /// TLVs.
        tlvs: Tlvs<'a> = tlvs(tlv::MULTI),
    }
}

fields! {
    /// The response to `submit_multi`: one message id, and the rejected recipients.
    SubmitMultiResp<'a> {
        /// The message id that receipts repeat; raw.
        message_id: &'a [u8] = lenient_text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The rejected recipients.
        unsuccessful: Unsuccessful<'a> = unsuccessful(),
        /// None in 3.4, but some servers add them.
        tlvs: Tlvs<'a> = lenient_tlvs(),
    }
}

/// One entry of a recipient list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationEntry<'a> {
    /// One subscriber.
    Sme(Address<'a>),
    /// A distribution list of the SMSC, by name.
    DistributionList(&'a [u8]),
}

/// The recipients of a `submit_multi`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Destinations<'a> {
    count: u8,
    bytes: &'a [u8],
}

/// A rejected recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsuccessfulSme<'a> {
    /// The recipient.
    pub destination: Address<'a>,
    /// The error status.
    pub status: CommandStatus,
}

/// The rejected recipients of a `submit_multi`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Unsuccessful<'a> {
    count: u8,
    bytes: &'a [u8],
}

impl<'a> Destinations<'a> {
    /// Returns the number of entries.
    pub const fn len(self) -> usize {
        self.count as usize
    }

    /// Whether the list is empty, as in no valid PDU.
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Returns all entries, in order.
    pub fn iter(self) -> impl Iterator<Item = DestinationEntry<'a>> {
        let mut reader = FieldReader::new(self.bytes);
        std::iter::from_fn(move || read_destination(&mut reader, "destinations").ok())
    }
}

impl<'a> Unsuccessful<'a> {
    /// Returns the number of entries.
    pub const fn len(self) -> usize {
        self.count as usize
    }

    /// Whether no recipient was rejected.
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Returns all entries, in order.
    pub fn iter(self) -> impl Iterator<Item = UnsuccessfulSme<'a>> {
        let mut reader = FieldReader::new(self.bytes);
        std::iter::from_fn(move || read_unsuccessful(&mut reader, "unsuccessful").ok())
    }
}

/// Prints the numbers shortened, as in logs.
impl fmt::Debug for Destinations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Unsuccessful<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Builds a recipient list.
#[derive(Clone, Default)]
pub struct DestinationsBuffer {
    count: u8,
    bytes: BytesMut,
}

impl DestinationsBuffer {
    /// Adds a recipient. Fails for the 255th, and if it does not fit its field.
    pub fn push(&mut self, destination: DestinationEntry<'_>) -> Result<(), EncodeError> {
        let field = "destinations";
        let room = self.count.checked_add(1).filter(|count| *count <= DESTINATIONS_MAX);
        let count = room.ok_or(EncodeError { field, why: EncodeErrorKind::BadCount })?;
        undo_on_error(&mut self.bytes, |writer| match destination {
            DestinationEntry::Sme(address) => {
                writer.octet(field, SME_ADDRESS)?;
                writer.address(field, address, ADDRESS_BYTES, CommandStatus::INVDSTADR)
            }
            DestinationEntry::DistributionList(name) => {
                writer.octet(field, DISTRIBUTION_LIST)?;
                writer.text(field, name, ADDRESS_BYTES, CommandStatus::INVDLNAME)
            }
        })?;
        self.count = count;
        Ok(())
    }

    /// Returns the list.
    pub fn as_destinations(&self) -> Destinations<'_> {
        Destinations { count: self.count, bytes: &self.bytes }
    }
}

/// Builds a list of rejected recipients.
#[derive(Clone, Default)]
pub struct UnsuccessfulBuffer {
    count: u8,
    bytes: BytesMut,
}

impl UnsuccessfulBuffer {
    /// Adds a rejected recipient. Fails for the 256th, and if it does not fit its field.
    pub fn push(&mut self, recipient: UnsuccessfulSme<'_>) -> Result<(), EncodeError> {
        let field = "unsuccessful";
        let count = self.count.checked_add(1).ok_or(EncodeError { field, why: EncodeErrorKind::BadCount })?;
        undo_on_error(&mut self.bytes, |writer| {
            writer.address(field, recipient.destination, ADDRESS_BYTES, CommandStatus::INVDSTADR)?;
            writer.u32(recipient.status.0);
            Ok(())
        })?;
        self.count = count;
        Ok(())
    }

    /// Returns the list.
    pub fn as_unsuccessful(&self) -> Unsuccessful<'_> {
        Unsuccessful { count: self.count, bytes: &self.bytes }
    }
}

fn undo_on_error(
    bytes: &mut BytesMut,
    write: impl FnOnce(&mut FieldWriter<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let before = bytes.len();
    let mut writer = FieldWriter::new(bytes);
    let written = write(&mut writer);
    writer.finish();
    written.inspect_err(|_| bytes.truncate(before))
}

fn read_destination<'a>(
    reader: &mut FieldReader<'a>,
    field: &'static str,
) -> Result<DestinationEntry<'a>, FieldError> {
    match reader.octet(field)? {
        SME_ADDRESS => {
            reader.address(field, ADDRESS_BYTES, CommandStatus::INVDSTADR).map(DestinationEntry::Sme)
        }
        DISTRIBUTION_LIST => reader
            .text(field, ADDRESS_BYTES, CommandStatus::INVDLNAME)
            .map(DestinationEntry::DistributionList),
        _ => Err(FieldError { status: CommandStatus::INVDESTFLAG, field }),
    }
}

fn read_unsuccessful<'a>(
    reader: &mut FieldReader<'a>,
    field: &'static str,
) -> Result<UnsuccessfulSme<'a>, FieldError> {
    let destination = reader.address(field, ADDRESS_BYTES, CommandStatus::INVDSTADR)?;
    Ok(UnsuccessfulSme { destination, status: CommandStatus(reader.u32(field)?) })
}

/// Reads `count` entries and returns their octets.
fn span<'a, E>(
    reader: &mut FieldReader<'a>,
    count: u8,
    mut read_one: impl FnMut(&mut FieldReader<'a>) -> Result<E, FieldError>,
) -> Result<&'a [u8], FieldError> {
    let before = reader.rest();
    for _ in 0..count {
        read_one(reader)?;
    }
    let used = before.len().saturating_sub(reader.rest().len());
    Ok(before.get(..used).unwrap_or_default())
}

impl<'a> FieldReader<'a> {
    fn destinations(&mut self, field: &'static str) -> Result<Destinations<'a>, FieldError> {
        let count = self.octet(field)?;
        if count == 0 || count > DESTINATIONS_MAX {
            return Err(FieldError { status: CommandStatus::INVNUMDESTS, field });
        }
        let bytes = span(self, count, |reader| read_destination(reader, field))?;
        Ok(Destinations { count, bytes })
    }

    fn unsuccessful(&mut self, field: &'static str) -> Result<Unsuccessful<'a>, FieldError> {
        if self.rest().is_empty() {
            return Ok(Unsuccessful::default());
        }
        let count = self.octet(field)?;
        let bytes = span(self, count, |reader| read_unsuccessful(reader, field))?;
        Ok(Unsuccessful { count, bytes })
    }
}

impl FieldWriter<'_> {
    fn destinations(&mut self, field: &'static str, value: Destinations<'_>) -> Result<(), EncodeError> {
        if value.is_empty() {
            return Err(EncodeError { field, why: EncodeErrorKind::BadCount });
        }
        self.octet(field, value.count)?;
        self.raw(value.bytes);
        Ok(())
    }

    fn unsuccessful(&mut self, field: &'static str, value: Unsuccessful<'_>) -> Result<(), EncodeError> {
        self.octet(field, value.count)?;
        self.raw(value.bytes);
        Ok(())
    }
}
