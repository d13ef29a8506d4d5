//! The tables of what happened to a message beyond its ordinary course and decides what may happen to it later.

use crate::tables::{MessageRange, TableError};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What happened to a message beyond its ordinary course. Most messages have no row: nothing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageExceptions {
    /// It went to another carrier after errors, a refusal or throttling.
    pub has_failed_over: bool,
    /// When it was reported UNKNOWN.
    pub unknown_at: Option<Timestamp>,
    /// Late, repeated and unreadable receipts that its timeline has.
    pub late_receipts: u32,
}

/// A change of one column of a message's row, which is made if it is not there; or of the carriers that refused it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum MessageExceptionChange {
    FailedOver(MessageId),
    Unknown {
        message: MessageId,
        at: Timestamp,
    },
    LateReceipts {
        message: MessageId,
        count: u32,
    },
    /// A carrier refused a message, perhaps not for the first time.
    Refused {
        message: MessageId,
        by: CarrierId,
    },
    /// All that is known of these messages is deleted.
    Delete(MessageRange),
}

/// Reads and writes what happened to messages beyond their ordinary course.
pub trait MessageExceptionRows {
    /// Applies a change.
    fn change_message_exceptions(&self, change: &MessageExceptionChange) -> Result<(), TableError>;

    /// Returns what happened to a message beyond its ordinary course.
    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError>;

    /// Returns whether a carrier refused a message.
    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError>;
}
