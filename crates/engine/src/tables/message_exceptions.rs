//! The tables of what happened to a message beyond its ordinary course and decides what may happen to it later.

use crate::tables::TableError;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What happened to a message beyond its ordinary course. Most messages have no row: nothing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageExceptions {
    /// It went to another carrier after errors, a refusal or throttling.
    pub has_failed_over: bool,
    /// When it was reported UNKNOWN.
    pub unknown_at: Option<Timestamp>,
    /// Late, repeated and unreadable receipts that its timeline has.
    pub late_receipts: u32,
}

/// What happened to a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MessageExceptionRow {
    pub message: MessageId,
    pub exceptions: MessageExceptions,
}

/// A carrier that refused a message. It does not get the message again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CarrierRefusal {
    pub message: MessageId,
    pub carrier: CarrierId,
}

stored_fields! { MessageExceptions { has_failed_over => failed_over, unknown_at, late_receipts } }
stored_table! { message_exception: MessageExceptionRow { message, exceptions }, key (message: MessageId) }
stored_table! {
    carrier_refusal: CarrierRefusal { message, carrier }, key (message: MessageId, carrier: CarrierId)
}

/// Reads what happened to messages beyond their ordinary course.
pub trait MessageExceptionRows {
    /// Returns what happened to a message beyond its ordinary course.
    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError>;

    /// Returns whether a carrier refused a message.
    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError>;
}
