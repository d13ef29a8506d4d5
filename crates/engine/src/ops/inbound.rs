//! MO messages: as they are received, stored and delivered, with the limits of joining their parts.

use crate::ops::Hidden;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::inbound::{InboundPart, MoContent};
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long an identical MO message from the same carrier counts as a duplicate: the carrier got no response and sends
/// it again.
pub const REPEATS_KNOWN: Duration = Duration::from_secs(600);
/// The same for parts of concatenated messages, which first wait for each other. Not longer, because handsets reuse
/// references.
pub const PART_REPEATS_KNOWN: Duration = CONCATENATION_WAIT.saturating_add(REPEATS_KNOWN);
/// How long a message waits for missing parts. Then it is delivered without them.
pub const CONCATENATION_WAIT: Duration = Duration::from_secs(600);
/// Parts of one carrier that wait for other parts. Beyond that the oldest message is delivered incomplete.
pub const UNFINISHED_PARTS_PER_CARRIER_MAX: u64 = 10_000;
/// Octets of the parts that are joined to one message: more than 255 parts of 140 octets.
pub const CONCATENATED_OCTETS_MAX: usize = 65_535;
/// How long unassigned messages are kept for the operator, at least.
pub const UNASSIGNED_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// How long a conversation is kept after its last message.
pub const CONVERSATION_KEPT: Duration = Duration::from_secs(400 * 86_400);

/// MO messages or reports of an account that one look for conversations reads.
pub const INBOUND_LOOKED_AT_MAX: u32 = 5_000;

/// A part of an MO message, with the sequence number of its `deliver_sm`, which is answered after the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoRecord {
    pub sequence: u32,
    pub part: InboundPart,
}

/// An MO message as it is delivered to a customer over SMPP.
#[derive(Clone, PartialEq, Eq)]
pub struct MoMessage {
    /// Its number in its account.
    pub id: u64,
    pub source: SmppAddress,
    pub destination: SmppAddress,
    pub whole: MoContent,
}

/// An MO message without an owner: no account owns the number, and no account wrote to the handset from it.
#[derive(Clone, PartialEq, Eq)]
pub struct UnassignedMo {
    pub message: MessageId,
    pub carrier: CarrierId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// An MO message for an account.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbound {
    pub account: AccountId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// An MO message as its account reads it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundRecord {
    /// Numbers the account's MO messages from 1, without gaps, in the order in which they become visible.
    pub id: u64,
    pub message: MessageId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// Who wrote to whom in an MO message of an account.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundParties {
    /// The message's number in its account.
    pub id: u64,
    pub from: String,
    pub to: String,
}

/// Hides the handset.
impl fmt::Debug for InboundParties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboundParties").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Hides the text and the handset.
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
