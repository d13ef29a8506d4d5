//! The table of MO messages to numbers that belong to no account.

use crate::tables::{TableError, Wire};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An unassigned MO message as it is written.
#[derive(Clone, Serialize, Deserialize)]
pub struct UnassignedRow {
    pub message: MessageId,
    pub carrier: CarrierId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub wire: Wire,
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

/// A change of the table.
#[derive(Clone, Serialize, Deserialize)]
pub enum UnassignedInboundChange {
    Add(Box<UnassignedRow>),
    Delete(MessageId),
}

/// Reads and writes MO messages to numbers that belong to no account.
pub trait UnassignedInboundRows {
    /// Applies a change.
    fn change_unassigned_inbound(&self, change: &UnassignedInboundChange) -> Result<(), TableError>;

    /// Returns a message, if it is there.
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedMessage>, TableError>;

    /// Returns the ids of the oldest messages with ids below one, at most `limit`.
    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError>;
}
