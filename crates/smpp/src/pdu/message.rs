//! `submit_sm` (§4.4), `deliver_sm` (§4.6) and `data_sm` (§4.7) with their responses.

use crate::{Address, CommandStatus, Hidden, Tag, Tlvs, tlv};

/// Octets of an address field, null included (§4.4.1).
pub(super) const ADDRESS_BYTES: usize = 21;
/// Octets of an address field in the PDUs that allow long ones (§4.7.1, §4.12.1).
pub(super) const LONG_ADDRESS_BYTES: usize = 65;
/// Octets of a message id, null included (§5.2.23).
pub(super) const MESSAGE_ID_BYTES: usize = 65;
/// Octets of a time, null included (§7.1.1).
pub(super) const TIME_BYTES: usize = 17;
/// Octets of a service type, null included (§5.2.11).
pub(super) const SERVICE_TYPE_BYTES: usize = 6;
/// Octets of short_message in a request we serve (§5.2.22).
pub(super) const SHORT_MESSAGE_BYTES: u8 = 254;

fields! {
    /// An MT message.
    SubmitSm<'a> {
        /// Up to 5 octets, empty for the default.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP) [if_set],
        /// The sender; empty means the connection's default.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The recipient.
        destination: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVDSTADR) as "dest",
        /// Mode, type and features; see [`esm_class`].
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
        tlvs: Tlvs<'a> = tlvs(tlv::SUBMIT) [if_set],
    }
}

impl<'a> SubmitSm<'a> {
    /// Returns the text: `short_message`, or `message_payload` if that is empty.
    pub fn text(&self) -> Hidden<'a> {
        text_of(self.short_message, self.tlvs)
    }
}

fields! {
    /// The response to `submit_sm`. A missing body reads as an empty message id.
    SubmitSmResp<'a> {
        /// The message id that receipts repeat; raw.
        message_id: &'a [u8] = lenient_text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// None in 3.4, but some servers add them.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}

fields! {
    /// An MO message or a receipt.
    DeliverSm<'a> {
        /// Up to 5 octets, often empty.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP) [if_set],
        /// The sender; in a receipt, the recipient of the message.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The recipient; in a receipt, the sender of the message.
        destination: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVDSTADR) as "dest",
        /// 0x04 marks a receipt, 0x20 an intermediate notification; see [`esm_class`].
        esm_class: u8 = octet(),
        /// GSM protocol identifier.
        protocol_id: u8 = octet() [if_set],
        /// 0 to 3.
        priority_flag: u8 = octet() as "priority" [if_set],
        /// Unused: empty.
        schedule_delivery_time: &'a [u8] = text(TIME_BYTES, CommandStatus::INVSCHED) as "schedule" [if_set],
        /// Unused: empty.
        validity_period: &'a [u8] = text(TIME_BYTES, CommandStatus::INVEXPIRY) as "validity" [if_set],
        /// Whether an SME acknowledgement is requested.
        registered_delivery: u8 = octet() [if_set],
        /// Unused: 0.
        replace_if_present_flag: u8 = octet() as "replace_if_present" [if_set],
        /// Alphabet and class of the text.
        data_coding: u8 = octet(),
        /// Unused: 0.
        sm_default_msg_id: u8 = octet() as "default_msg_id" [if_set],
        /// The text, UDH and text, or the receipt text; never printed. Up to 255 octets are accepted from a carrier,
        /// although the specification allows 254.
        short_message: Hidden<'a> = short_message(u8::MAX) as "text" [after_receipt],
        /// TLVs.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}

impl<'a> DeliverSm<'a> {
    /// Returns the text: `short_message`, or `message_payload` if that is empty.
    pub fn text(&self) -> Hidden<'a> {
        text_of(self.short_message, self.tlvs)
    }
}

fields! {
    /// The response to `deliver_sm`. Its message id is unused (§4.6.2) and may be missing.
    DeliverSmResp<'a> {
        /// Empty.
        message_id: &'a [u8] = lenient_text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID) [if_set],
        /// None in 3.4.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}

fields! {
    /// A message in either direction, with its text and options in TLVs.
    DataSm<'a> {
        /// Up to 5 octets, empty for the default.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP) [if_set],
        /// The sender.
        source: Address<'a> = address(LONG_ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The recipient.
        destination: Address<'a> = address(LONG_ADDRESS_BYTES, CommandStatus::INVDSTADR) as "dest",
        /// Mode, type and features; see [`esm_class`].
        esm_class: u8 = octet(),
        /// The requested receipts.
        registered_delivery: u8 = octet(),
        /// Alphabet and class of the text.
        data_coding: u8 = octet(),
        /// `message_payload` and others.
        tlvs: Tlvs<'a> = tlvs(tlv::DATA) [after_receipt],
    }
}

impl<'a> DataSm<'a> {
    /// Returns the payload; empty if there is none, as in some receipts.
    pub fn text(&self) -> Hidden<'a> {
        text_of(Hidden::default(), self.tlvs)
    }

    /// Whether the required payload is missing. A receipt needs none.
    pub(super) fn lacks_payload(&self) -> bool {
        self.esm_class & esm_class::TYPE_MASK == 0 && self.tlvs.get(Tag::MESSAGE_PAYLOAD).is_none()
    }
}

fields! {
    /// The response to `data_sm`.
    DataSmResp<'a> {
        /// The message id that receipts repeat; raw.
        message_id: &'a [u8] = lenient_text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The cause of a failed delivery, if the peer sends it.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}

fn text_of<'a>(short_message: Hidden<'a>, tlvs: Tlvs<'a>) -> Hidden<'a> {
    if short_message.is_empty() {
        return Hidden(tlvs.get(Tag::MESSAGE_PAYLOAD).unwrap_or_default());
    }
    short_message
}

/// Bits of `esm_class` (§5.2.12).
pub mod esm_class {
    /// Bits 1 and 0: messaging mode.
    pub const MODE_MASK: u8 = 0x03;
    /// Bits 5 to 2: message type.
    pub const TYPE_MASK: u8 = 0x3C;
    /// Type: a receipt of the SMSC.
    pub const RECEIPT: u8 = 0x04;
    /// Type: an intermediate notification.
    pub const INTERMEDIATE: u8 = 0x20;
    /// Feature: the text starts with a user data header.
    pub const UDHI: u8 = 0x40;
}
