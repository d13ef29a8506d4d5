//! What links to carriers receive from the engine, and what they report to it.

use crate::ops::{CustomerTlvs, MoRecord, ReceiptRecord, RecordedReceipt, TargetCarrier};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::RejectionCause;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, SmsOptions};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// One bind of Hermod to a carrier, until it ends. Never reused within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkId(pub u64);

impl LinkId {
    /// No link: for results of a link that is gone.
    pub const NONE: LinkId = LinkId(u64::MAX);
}

/// The number of a link among those of its carrier, from 1: how operators know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkNumber(pub u16);

/// What a link can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// It sends parts, and may also bring receipts.
    Sends,
    /// It brings receipts and never sends a part: the receiver bind of a pair.
    ReceivesOnly,
}

/// One part to be sent to a carrier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub message: MessageId,
    pub part: PartNo,
    pub parts: u8,
    pub account: AccountId,
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
    pub text: MessageText,
    pub encoding: Encoding,
    /// The concatenation reference of the message; rotates per sender and recipient.
    pub reference: u8,
    /// The carrier takes the whole text in one `submit_sm`. Then this is the only job of its message, even if `parts`
    /// is greater than 1.
    pub whole: bool,
    /// Optional parameters of the customer, passed on unchanged.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub options: Option<Arc<SmsOptions>>,
    /// The charge for the message, by which its route finds another carrier.
    pub price: Money,
    pub expires_at: Timestamp,
    /// The number of the batch that holds its row back, and the index there. Only the engine uses it.
    pub fresh: Option<(u64, usize)>,
}

impl Job {
    /// Returns how many `submit_sm` the message has.
    pub fn submits(&self) -> u8 {
        if self.whole { 1 } else { self.parts }
    }
}

/// The carrier's response to a `submit_sm`, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubmitResponse {
    Accepted(RemoteId),
    /// Accepted without a usable id: it was missing, empty, or longer than 64 octets.
    AcceptedWithoutId,
    /// Throttled: the part returns to the front of its queue. Does not count as an attempt.
    Throttled,
    /// The carrier throttles this recipient, not the link: the part waits, and others pass it. Does not count as an
    /// attempt. `sent`: whether the part was sent this time.
    RecipientThrottled {
        wait: Duration,
        sent: bool,
    },
    /// A temporary error. The part is tried again after `after`, or else on the retry schedule.
    Temporary {
        status: u32,
        after: Option<Duration>,
    },
    Refused {
        about: RejectionCause,
        status: u32,
    },
    /// The link was lost, or the response timed out, after the part may have been sent.
    NoResponse,
    /// The link was lost before any byte of the part was written.
    NotSent,
}

/// The response to one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseRecord {
    pub message: MessageId,
    pub part: PartNo,
    pub account: AccountId,
    /// The recipient.
    pub to: Msisdn,
    pub response: SubmitResponse,
    /// The next carrier of the route that can take the message, if this one does not.
    pub failover_to: Option<TargetCarrier>,
}

/// Everything that a link learned in one read of its socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkBatch {
    pub carrier: CarrierId,
    /// How this carrier writes ids.
    pub ids: IdConversion,
    pub link: LinkId,
    pub responses: Vec<ResponseRecord>,
    pub receipts: Vec<ReceiptRecord>,
    /// MO messages.
    pub inbound: Vec<MoRecord>,
    /// Parts that the link can send now in addition to earlier grants: free window slots that also have a rate token.
    pub slots: u32,
    pub now: Timestamp,
}

impl LinkBatch {
    /// Splits the batch into one command for each record, and one for the slots, which is the last.
    pub fn into_pieces(self) -> Vec<LinkBatch> {
        let LinkBatch { carrier, ids, link, responses, receipts, inbound, slots, now } = self;
        let empty = LinkBatch {
            carrier,
            ids,
            link,
            responses: Vec::new(),
            receipts: Vec::new(),
            inbound: Vec::new(),
            slots: 0,
            now,
        };
        let mut pieces = Vec::with_capacity(responses.len() + receipts.len() + inbound.len() + 1);
        pieces.extend(
            responses.into_iter().map(|response| LinkBatch { responses: vec![response], ..empty.clone() }),
        );
        pieces.extend(
            receipts.into_iter().map(|receipt| LinkBatch { receipts: vec![receipt], ..empty.clone() }),
        );
        pieces.extend(inbound.into_iter().map(|part| LinkBatch { inbound: vec![part], ..empty.clone() }));
        pieces.push(LinkBatch { slots, ..empty });
        pieces
    }
}

/// What a link may do after the commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Handout {
    /// Claimed parts, to be sent.
    pub jobs: Vec<Job>,
    /// Receipts that are recorded, to be answered.
    pub recorded: Vec<RecordedReceipt>,
    /// Sequence numbers of MO messages that are stored, to be answered.
    pub received: Vec<u32>,
}

impl Handout {
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.recorded.is_empty() && self.received.is_empty()
    }
}
