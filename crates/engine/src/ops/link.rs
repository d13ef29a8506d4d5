//! What a link to a carrier is given, and what it reports.

use crate::ops::{CustomerTlvs, TargetCarrier, MoRecord, ReceiptRecord, RecordedReceipt};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::RefusedFor;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, Shape};
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// One bind of ours to a carrier, for as long as it lasts. Never reused within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId(pub u64);

/// What a link is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// It takes parts. It may bring receipts as well.
    Sends,
    /// It brings receipts and never takes a part: the receiving half of a pair.
    ReceivesOnly,
}

/// One part on its way to a carrier.
#[derive(Clone, Debug, PartialEq)]
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
    /// Ties the parts of one message together on the handset; rotates per sender and recipient.
    pub reference: u8,
    /// The carrier takes the whole text in one `submit_sm`: this job is the only one of its message, even if `parts` is more.
    pub whole: bool,
    /// Optional parameters that the customer gave, to be passed on as they are.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub shape: Option<Arc<Shape>>,
    pub expires_at: Timestamp,
    /// The batch and place its row is still to be written in. Only the writer cares.
    pub fresh: Option<(u64, usize)>,
}

impl Job {
    /// How many `submit_sm` its message is.
    pub fn submits(&self) -> u8 {
        if self.whole { 1 } else { self.parts }
    }
}

/// What a carrier said to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitResponse {
    Accepted(RemoteId),
    /// It took the part and gave no usable id: none, an empty one, or one of more than 64 octets.
    AcceptedWithoutId,
    /// Slow down: back to the front of the queue, and it does not count as an attempt.
    Throttled,
    /// The carrier throttles this recipient and not the link: the part waits for so long and others pass it. It does not
    /// count as an attempt. `sent`: whether bytes of it left this time.
    SteppedAside {
        wait: Duration,
        sent: bool,
    },
    /// Try again later: after so long if it says so, else on the retry schedule.
    Temporary {
        status: u32,
        after: Option<Duration>,
    },
    Refused {
        about: RefusedFor,
        status: u32,
    },
    /// The link was lost, or the carrier stayed silent, after bytes may have left.
    NoResponse,
    /// The link was lost before any byte of it left.
    NotSent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseRecord {
    pub message: MessageId,
    pub part: PartNo,
    pub account: AccountId,
    /// Whom it went to.
    pub to: Msisdn,
    pub response: SubmitResponse,
    /// Another carrier that could take the message, should this one not want it.
    pub failover_to: Option<TargetCarrier>,
}

/// Everything a link learned in one read of its socket.
#[derive(Clone, Debug)]
pub struct LinkBatch {
    pub carrier: CarrierId,
    /// How this carrier writes ids.
    pub ids: IdConversion,
    pub link: LinkId,
    pub responses: Vec<ResponseRecord>,
    pub receipts: Vec<ReceiptRecord>,
    /// What handsets sent.
    pub inbound: Vec<MoRecord>,
    /// How many more parts the link can take now: free window slots that also have a rate token.
    pub slots: u32,
    pub now: Timestamp,
}

impl LinkBatch {
    /// Every record on its own, and the slots last.
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
        pieces.extend(responses.into_iter().map(|response| LinkBatch { responses: vec![response], ..empty.clone() }));
        pieces.extend(
            receipts.into_iter().map(|receipt| LinkBatch { receipts: vec![receipt], ..empty.clone() }),
        );
        pieces.extend(inbound.into_iter().map(|part| LinkBatch { inbound: vec![part], ..empty.clone() }));
        pieces.push(LinkBatch { slots, ..empty });
        pieces
    }
}

/// What a link may do now that it is durable.
#[derive(Debug, Default)]
pub struct Handout {
    /// Claimed parts: write their bytes.
    pub jobs: Vec<Job>,
    /// Receipts that are recorded: answer them.
    pub recorded: Vec<RecordedReceipt>,
    /// MO messages that are stored, by sequence number: answer them.
    pub received: Vec<u32>,
}

impl Handout {
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.recorded.is_empty() && self.received.is_empty()
    }
}
