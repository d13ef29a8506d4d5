//! `submit_multi` (§4.5). Its lists stay raw, as TLVs do, so that reading them allocates nothing.

use bytes::BytesMut;
use std::fmt;

use super::message::{ADDRESS_BYTES, MESSAGE_ID_BYTES, SERVICE_TYPE_BYTES, SHORT_MESSAGE_BYTES, TIME_BYTES};
use crate::{
    Address, CommandStatus, EncodeError, EncodeErrorKind, Hidden, Tlvs,
    reader::{FieldError, FieldReader},
    tlv,
    trace_text::{TraceText, Traced},
    writer::FieldWriter,
};

/// The maximum of `number_of_dests` (§4.5.1).
const DESTINATIONS_MAX: u8 = 254;
/// Entries of a list in a trace; the total is written as well.
const TRACED_MAX: usize = 5;
const SME_ADDRESS: u8 = 1;
const DISTRIBUTION_LIST: u8 = 2;

fields! {
    /// One message to several recipients.
    SubmitMulti<'a> {
        /// Up to 5 octets, empty for the default.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP) [if_set],
        /// The sender.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The recipients.
        destinations: Destinations<'a> = destinations() as "dests",
        /// Mode, type and features; see [`super::esm_class`].
        esm_class: u8 = octet(),
        /// GSM protocol identifier.
        protocol_id: u8 = octet() [if_set],
        /// 0 to 3.
        priority_flag: u8 = octet() as "priority" [if_set],
        /// Empty for immediate delivery; see [`crate::time`].
        schedule_delivery_time: &'a [u8] = text(TIME_BYTES, CommandStatus::INVSCHED) as "schedule" [if_set],
        /// Empty for the default; see [`crate::time`].
        validity_period: &'a [u8] = text(TIME_BYTES, CommandStatus::INVEXPIRY) as "validity",
        /// The requested receipts.
        registered_delivery: u8 = octet(),
        /// 1 replaces an earlier message.
        replace_if_present_flag: u8 = octet() as "replace_if_present" [if_set],
        /// Alphabet and class of the text.
        data_coding: u8 = octet(),
        /// A predefined message, 0 for none.
        sm_default_msg_id: u8 = octet() as "default_msg_id" [if_set],
        /// The text, or UDH and text; never printed.
        short_message: Hidden<'a> = short_message(SHORT_MESSAGE_BYTES) as "text",
        /// TLVs.
        tlvs: Tlvs<'a> = tlvs(tlv::MULTI) [if_set],
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
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
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

/// A rejected recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsuccessfulSme<'a> {
    /// The recipient.
    pub destination: Address<'a>,
    /// The error status.
    pub status: CommandStatus,
}

/// Declares a list of `submit_multi` with its buffer: the count is in one octet, the entries stay raw.
macro_rules! entry_list {
    ($(#[$meta:meta])* $list:ident, $buffer:ident, $as_list:ident, $entry:ident, $field:literal, at most $max:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Default)]
        pub struct $list<'a> {
            count: u8,
            bytes: &'a [u8],
        }

        impl<'a> $list<'a> {
            /// Returns the number of entries.
            pub const fn len(self) -> usize {
                self.count as usize
            }

            /// Whether the list has no entry.
            pub const fn is_empty(self) -> bool {
                self.count == 0
            }

            /// Returns all entries, in order.
            pub fn iter(self) -> impl Iterator<Item = $entry<'a>> {
                let mut reader = FieldReader::new(self.bytes);
                std::iter::from_fn(move || $entry::read(&mut reader, $field).ok())
            }

            /// Reads `count` entries.
            fn read(reader: &mut FieldReader<'a>, count: u8) -> Result<Self, FieldError> {
                let before = reader.rest();
                for _ in 0..count {
                    $entry::read(reader, $field)?;
                }
                let used = before.len().saturating_sub(reader.rest().len());
                Ok($list { count, bytes: before.get(..used).unwrap_or_default() })
            }

            fn write(self, writer: &mut FieldWriter<'_>) -> Result<(), EncodeError> {
                writer.octet($field, self.count)?;
                writer.raw(self.bytes);
                Ok(())
            }
        }

        /// Prints the numbers shortened, as in logs.
        impl fmt::Debug for $list<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }

        /// Writes the number of entries, and the first ones.
        impl Traced for $list<'_> {
            fn trace(self, name: &str, line: &mut TraceText) {
                line.field(name, self.len());
                if !self.is_empty() {
                    line.list("first", |line| self.iter().take(TRACED_MAX).for_each(|entry| entry.trace(line)));
                }
            }
        }

        #[doc = concat!("Builds [`", stringify!($list), "`].")]
        #[derive(Clone, Default)]
        pub struct $buffer {
            count: u8,
            bytes: BytesMut,
        }

        impl $buffer {
            /// Adds an entry. Fails if the list is full, and if the entry does not fit its fields.
            pub fn push(&mut self, entry: $entry<'_>) -> Result<(), EncodeError> {
                let room = self.count.checked_add(1).filter(|count| *count <= $max);
                let count = room.ok_or(EncodeError { field: $field, why: EncodeErrorKind::BadCount })?;
                let before = self.bytes.len();
                let mut writer = FieldWriter::new(&mut self.bytes);
                let written = entry.write(&mut writer, $field);
                writer.finish();
                written.inspect_err(|_| self.bytes.truncate(before))?;
                self.count = count;
                Ok(())
            }

            /// Returns the list.
            pub fn $as_list(&self) -> $list<'_> {
                $list { count: self.count, bytes: &self.bytes }
            }
        }
    };
}

entry_list!(
    /// The recipients of a `submit_multi`.
    Destinations, DestinationsBuffer, as_destinations, DestinationEntry, "destinations", at most DESTINATIONS_MAX
);
entry_list!(
    /// The rejected recipients of a `submit_multi`.
    Unsuccessful, UnsuccessfulBuffer, as_unsuccessful, UnsuccessfulSme, "unsuccessful", at most u8::MAX
);

impl<'a> DestinationEntry<'a> {
    fn read(reader: &mut FieldReader<'a>, field: &'static str) -> Result<Self, FieldError> {
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

    fn write(self, writer: &mut FieldWriter<'_>, field: &'static str) -> Result<(), EncodeError> {
        match self {
            DestinationEntry::Sme(address) => {
                writer.octet(field, SME_ADDRESS)?;
                writer.address(field, address, ADDRESS_BYTES, CommandStatus::INVDSTADR)
            }
            DestinationEntry::DistributionList(name) => {
                writer.octet(field, DISTRIBUTION_LIST)?;
                writer.text(field, name, ADDRESS_BYTES, CommandStatus::INVDLNAME)
            }
        }
    }

    fn trace(self, line: &mut TraceText) {
        match self {
            DestinationEntry::Sme(address) => address.trace("dest", line),
            DestinationEntry::DistributionList(name) => name.trace("list", line),
        }
    }
}

impl<'a> UnsuccessfulSme<'a> {
    fn read(reader: &mut FieldReader<'a>, field: &'static str) -> Result<Self, FieldError> {
        let destination = reader.address(field, ADDRESS_BYTES, CommandStatus::INVDSTADR)?;
        Ok(UnsuccessfulSme { destination, status: CommandStatus(reader.u32(field)?) })
    }

    fn write(self, writer: &mut FieldWriter<'_>, field: &'static str) -> Result<(), EncodeError> {
        writer.address(field, self.destination, ADDRESS_BYTES, CommandStatus::INVDSTADR)?;
        writer.u32(self.status.0);
        Ok(())
    }

    fn trace(self, line: &mut TraceText) {
        self.destination.trace("dest", line);
        line.field("status", self.status);
    }
}

impl<'a> FieldReader<'a> {
    fn destinations(&mut self, field: &'static str) -> Result<Destinations<'a>, FieldError> {
        let count = self.octet(field)?;
        if count == 0 || count > DESTINATIONS_MAX {
            return Err(FieldError { status: CommandStatus::INVNUMDESTS, field });
        }
        Destinations::read(self, count)
    }

    fn unsuccessful(&mut self, field: &'static str) -> Result<Unsuccessful<'a>, FieldError> {
        let count = if self.rest().is_empty() { 0 } else { self.octet(field)? };
        Unsuccessful::read(self, count)
    }
}

impl FieldWriter<'_> {
    fn destinations(&mut self, field: &'static str, value: Destinations<'_>) -> Result<(), EncodeError> {
        if value.is_empty() {
            return Err(EncodeError { field, why: EncodeErrorKind::BadCount });
        }
        value.write(self)
    }

    fn unsuccessful(&mut self, _field: &'static str, value: Unsuccessful<'_>) -> Result<(), EncodeError> {
        value.write(self)
    }
}
