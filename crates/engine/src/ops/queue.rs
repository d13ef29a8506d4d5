//! What waits for a carrier, and how it goes to another one.

use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;

/// One carrier's queue, in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarrierQueue {
    pub carrier: CarrierId,
    /// Not handed over yet, with those that are deferred.
    pub waiting: u64,
    /// Given to a link, and not answered.
    pub in_flight: u64,
    /// Of those that wait, how many wait for a later time. Some may have ended meanwhile: they count until that time.
    pub deferred: usize,
    /// When the oldest message that waits for a slot was accepted. Unknown if it is far behind answered ones.
    pub oldest: Option<Timestamp>,
}

/// Where a message stands in a carrier's queue: read on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    pub account: AccountId,
    pub message: MessageId,
}

/// A message of which no carrier has anything: what a route needs to know to find it another one.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    pub message: MessageId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub from: Sender,
    pub to: Msisdn,
    pub parts: u8,
    pub expires_at: Timestamp,
}

impl WaitingMessage {
    pub fn position(&self) -> QueuePosition {
        QueuePosition { account: self.account, message: self.message }
    }
}

/// Another carrier for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetCarrier {
    pub carrier: CarrierId,
    /// It takes long messages whole and splits them itself: what waits in parts for one carrier is one `submit_sm` for
    /// another, and the other way round.
    pub whole: bool,
}

/// A message is to go from one carrier to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub message: MessageId,
    pub account: AccountId,
    pub from: CarrierId,
    pub to: TargetCarrier,
}
