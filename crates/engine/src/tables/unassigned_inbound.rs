//! The table of MO messages to numbers that belong to no account.

use crate::tables::{TableError, Wire};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;

/// An unassigned MO message as it is written.
#[derive(Clone, Copy)]
pub struct UnassignedRow<'a> {
    pub message: MessageId,
    pub carrier: CarrierId,
    pub from: &'a str,
    pub to: &'a str,
    pub text: &'a str,
    pub wire: &'a Wire,
    /// The number of parts that were never received.
    pub missing: u8,
    pub received_at: Timestamp,
}

/// An unassigned MO message as it is read to be assigned.
#[derive(Clone, PartialEq, Eq)]
pub struct UnassignedMessage {
    pub carrier: CarrierId,
    pub text: String,
    pub wire: Wire,
    pub missing: u8,
    pub received_at: Timestamp,
}

/// Reads and writes MO messages to numbers that belong to no account.
pub trait UnassignedInboundRows {
    /// Writes a new message.
    fn add_unassigned(&self, row: &UnassignedRow<'_>) -> Result<(), TableError>;

    /// Returns a message, if it is there.
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedMessage>, TableError>;

    /// Returns the ids of the oldest messages with ids below one, at most `limit`.
    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError>;

    /// Deletes a message.
    fn delete_unassigned(&self, message: MessageId) -> Result<(), TableError>;
}
