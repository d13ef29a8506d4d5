//! The queues of carriers, moves of messages between carriers, and rows that were set aside because they cannot be read.

use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// One carrier's queue, in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarrierQueue {
    pub carrier: CarrierId,
    /// Parts that wait for a slot or for a time.
    pub waiting: u64,
    /// Parts that were given to a link and have no response yet.
    pub in_flight: u64,
    /// Waiting parts that wait for a time: for a retry, or a resend of a part in doubt.
    pub deferred: usize,
    /// When the oldest message that waits, for a slot or for a time, was accepted.
    pub oldest: Option<Timestamp>,
    /// When the oldest message that waits for a slot was accepted. None if it is far behind answered ones.
    pub oldest_for_slot: Option<Timestamp>,
}

/// The parts of a carrier that wait for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeferredParts {
    pub count: usize,
    pub oldest: Option<MessageId>,
}

/// A position in a carrier's queue, to read on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    pub account: AccountId,
    pub message: MessageId,
}

/// A message of which no carrier has any part, as routing needs it to find another carrier.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    pub message: MessageId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub from: Sender,
    pub to: Msisdn,
    pub parts: u8,
    /// The charge for the message.
    pub price: Money,
    pub expires_at: Timestamp,
    /// A carrier may have a part of it: it was sent and not answered.
    pub may_be_sent: bool,
}

impl WaitingMessage {
    pub fn position(&self) -> QueuePosition {
        QueuePosition { account: self.account, message: self.message }
    }
}

/// What is still to be sent to a carrier for an account: messages with a part that waits for a slot or for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsentMessages {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub messages: u64,
    /// Their parts that wait.
    pub parts: u64,
    /// Those of the parts that may have been sent before.
    pub in_doubt: u64,
    pub oldest: MessageId,
    pub newest: MessageId,
}

/// The carrier that a message moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetCarrier {
    pub carrier: CarrierId,
    /// It takes long messages whole and splits them itself. So the parts of a message may become one `submit_sm` by a
    /// move, and one `submit_sm` several parts.
    pub whole: bool,
    /// What it is believed to ask for the message; none if that is not known.
    pub cost: Option<BelievedCost>,
}

/// A move of a message from one carrier to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub message: MessageId,
    pub account: AccountId,
    pub from: CarrierId,
    pub to: TargetCarrier,
}

/// A row that is invalid: it is damaged, or was written by another release. Its numbers are those of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub id: i64,
    pub at: Timestamp,
    pub reason: String,
    pub carrier: i64,
    pub account: i64,
    pub message: i64,
    /// The row of a part that left the queues. None: the message's own row is invalid, and its parts are still in the
    /// queues.
    pub part: Option<StoredPart>,
}

/// The numbers in a part's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPart {
    pub no: i64,
    pub state: i64,
    pub doubts: i64,
    pub resend: i64,
    pub attempts: i64,
    pub due_at: i64,
    pub expires_at: i64,
}

/// The number of rows that are set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAsideCount {
    pub rows: u64,
    /// When the latest of them was set aside.
    pub last_at: Option<Timestamp>,
}
