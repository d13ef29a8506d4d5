//! The table of MO messages to numbers that belong to no account.

use crate::tables::described::{stored_fields, stored_table};
use crate::tables::{TableError, Wire};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An unassigned MO message.
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

stored_table! {
    unassigned_inbound: UnassignedRow {
        message, carrier, from => source, to => dest, text as MessageText, wire, missing, received_at,
    },
    key (message: MessageId)
}

/// Reads MO messages to numbers that belong to no account.
pub trait UnassignedInboundRows {
    /// Returns a message, if it is there.
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedRow>, TableError>;

    /// Returns the ids of the oldest messages with ids below one, at most `limit`.
    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError>;
}
