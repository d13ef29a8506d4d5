//! `query_sm`, `cancel_sm`, `replace_sm` (§4.8 to §4.10) and `alert_notification` (§4.12).

use super::message::{
    ADDRESS_BYTES, LONG_ADDRESS_BYTES, MESSAGE_ID_BYTES, SERVICE_TYPE_BYTES, SHORT_MESSAGE_BYTES, TIME_BYTES,
};
use crate::{Address, CommandStatus, Hidden, Tlvs};

fields! {
    /// Queries the state of one message.
    QuerySm<'a> {
        /// The id of the `submit_sm_resp`.
        message_id: &'a [u8] = text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The original sender, or empty.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
    }
}

fields! {
    /// The state of one message.
    QuerySmResp<'a> {
        /// The id of the query.
        message_id: &'a [u8] = text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The time of the final state; empty before.
        final_date: &'a [u8] = text(TIME_BYTES, CommandStatus::QUERYFAIL),
        /// As in the `message_state` TLV (§5.2.28).
        message_state: u8 = octet() [number],
        /// The network's error code.
        error_code: u8 = octet() [number],
    }
}

fields! {
    /// Cancels one message, or all between two addresses if the id is empty.
    CancelSm<'a> {
        /// Set if the original had one.
        service_type: &'a [u8] = text(SERVICE_TYPE_BYTES, CommandStatus::INVSERTYP) [if_set],
        /// The id of the `submit_sm_resp`, or empty.
        message_id: &'a [u8] = text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The original sender.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The original recipient.
        destination: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVDSTADR) as "dest",
    }
}

fields! {
    /// Replaces a message that was not sent yet.
    ReplaceSm<'a> {
        /// The id of the `submit_sm_resp`.
        message_id: &'a [u8] = text(MESSAGE_ID_BYTES, CommandStatus::INVMSGID),
        /// The original sender.
        source: Address<'a> = address(ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// Empty keeps the original.
        schedule_delivery_time: &'a [u8] = text(TIME_BYTES, CommandStatus::INVSCHED) as "schedule" [if_set],
        /// Empty keeps the original.
        validity_period: &'a [u8] = text(TIME_BYTES, CommandStatus::INVEXPIRY) as "validity",
        /// The requested receipts.
        registered_delivery: u8 = octet(),
        /// A predefined message, 0 for none.
        sm_default_msg_id: u8 = octet() as "default_msg_id" [if_set],
        /// The new text; never printed.
        short_message: Hidden<'a> = short_message(SHORT_MESSAGE_BYTES) as "text",
    }
}

fields! {
    /// A subscriber has become reachable. It has no response.
    AlertNotification<'a> {
        /// The subscriber.
        source: Address<'a> = address(LONG_ADDRESS_BYTES, CommandStatus::INVSRCADR),
        /// The ESME that requested the notification.
        esme: Address<'a> = address(LONG_ADDRESS_BYTES, CommandStatus::INVDSTADR),
        /// `ms_availability_status`.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}
