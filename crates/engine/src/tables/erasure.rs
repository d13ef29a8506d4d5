//! What erasing a phone number reads and overwrites.

use crate::tables::{EventKey, OriginRow, PartKey, TableError};
use hermod_domain::erasure::{ErasureScope, KeptErasure};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// A message as erasing needs it: whether it has ended, and what is to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasableMessage {
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub origin: Option<OriginRow>,
    pub has_ended: bool,
}

/// An account's MO message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundKey {
    pub account: AccountId,
    pub id: u64,
}

/// A carrier's id of a part in the table of a day. The row has the recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCarrierId {
    pub day: Day,
    pub carrier: CarrierId,
    pub remote: RemoteId,
    pub part: PartKey,
}

/// An attempt to post a webhook event. The row has the beginning of the receiver's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptKey {
    pub event: EventKey,
    pub no: u32,
}

/// Rows that have a phone number in them, beside messages and MO messages of accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErasableKind {
    Review,
    Conversation,
    /// It belongs to no account.
    ParkedReceipt,
    /// It belongs to no account.
    UnassignedInbound,
}

/// A change of any table that erases a phone number. What it deletes is overwritten.
#[derive(Clone, Serialize, Deserialize)]
pub enum ErasureChange {
    /// A message's recipient and origin. It has no text any more.
    Message { message: MessageId, to: u64, origin: Option<OriginRow> },
    /// The parts of a message are deleted from those that receipts match by number.
    UnnamedParts { carrier: CarrierId, to: Msisdn, message: MessageId },
    /// An MO message's sender. It has no text any more.
    Inbound { key: InboundKey, from: u64 },
    /// Rows of a kind with a number are deleted. Parked receipts stay, without the number.
    Others { kind: ErasableKind, scope: ErasureScope },
    /// A carrier's id of a part has no recipient any more.
    CarrierId(DayCarrierId),
    /// The response to an attempt to post a webhook event is removed.
    Response(AttemptKey),
    /// An erasure is kept, in place of an earlier one of the same number, unless a later one is kept. Those before a time are
    /// deleted.
    Keep { erasure: KeptErasure, delete_before: Timestamp },
}

/// Reads and overwrites what erasing a phone number touches.
pub trait ErasureRows {
    /// Applies a change.
    fn change_erasure(&self, change: &ErasureChange) -> Result<(), TableError>;

    /// Returns how many rows of a kind there are to erase.
    fn count_erasable(&self, kind: ErasableKind, scope: &ErasureScope) -> Result<u64, TableError>;

    /// Returns a message as erasing needs it; none if it has no row.
    fn erasable_message(&self, message: MessageId) -> Result<Option<ErasableMessage>, TableError>;
}
