//! Messages from handsets to an account's numbers.

use crate::ops::Hidden;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::inbound::{InboundPart, Whole};
use hermod_domain::origin::WrittenAddress;
use hermod_domain::time::Timestamp;
use std::fmt;
use std::time::Duration;

/// How long the very same message of a carrier is taken for a repeat: it got no answer and brings it again.
pub const REPEATS_KNOWN: Duration = Duration::from_secs(600);
/// The same for parts, which wait for each other first. No longer, because handsets use the same reference again.
pub const PART_REPEATS_KNOWN: Duration = JOINING_WAIT.saturating_add(REPEATS_KNOWN);
/// How long the parts of a message are waited for. Then what has come is delivered.
pub const JOINING_WAIT: Duration = Duration::from_secs(600);
/// Parts of one carrier that wait for others. Beyond that the oldest message is delivered as it is.
pub const UNFINISHED_PARTS_PER_CARRIER_MAX: u64 = 10_000;
/// Octets of the parts that are put together to one message. More than 255 parts of a handset's hold.
pub const JOINED_OCTETS_MAX: usize = 65_535;
/// How long messages that are nobody's are kept for the operator, at least.
pub const UNASSIGNED_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// How long it is known who wrote to a handset last.
pub const CONVERSATION_KEPT: Duration = Duration::from_secs(400 * 86_400);

/// What a handset sent, with the sequence number its `deliver_sm` must be answered under once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoRecord {
    pub sequence: u32,
    pub part: InboundPart,
}

/// A message from a handset as it is brought over SMPP.
#[derive(Clone, PartialEq, Eq)]
pub struct MoMessage {
    /// Its number among its account's.
    pub id: u64,
    pub source: WrittenAddress,
    pub destination: WrittenAddress,
    pub whole: Whole,
}

/// A message that is nobody's: no account owns the number, and none wrote to the handset from it.
#[derive(Clone, PartialEq, Eq)]
pub struct UnassignedMo {
    pub message: MessageId,
    pub carrier: CarrierId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// A message that came in for an account.
#[derive(Clone, PartialEq, Eq)]
pub struct Inbound {
    pub account: AccountId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// The same, as an account reads it.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundRecord {
    /// Counts the account's inbound messages from 1, without gaps, in the order in which they can be read.
    pub id: u64,
    pub message: MessageId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// Neither the text nor whose handset it is.
impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inbound { account, from: _, to: _, text, received_at } = self;
        f.debug_struct("Inbound")
            .field("account", account)
            .field("text", &Hidden(text))
            .field("received_at", received_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoMessage").field("id", &self.id).field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl fmt::Debug for UnassignedMo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnassignedMo { message, carrier, from: _, to: _, text, received_at } = self;
        f.debug_struct("UnassignedMo")
            .field("message", message)
            .field("carrier", carrier)
            .field("text", &Hidden(text))
            .field("received_at", received_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for InboundRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InboundRecord { id, message, from: _, to: _, text, received_at } = self;
        f.debug_struct("InboundRecord")
            .field("id", id)
            .field("message", message)
            .field("text", &Hidden(text))
            .field("received_at", received_at)
            .finish_non_exhaustive()
    }
}
