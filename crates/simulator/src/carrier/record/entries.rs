//! The entries of the record (submits, receipts, MO parts, binds, links) and its counts.

use std::net::SocketAddr;
use std::time::Duration;

use hermod_smpp::{BindType, CommandStatus};
use serde::Serialize;

use crate::carrier::mo::MoPart;
use crate::carrier::outcome::Outcome;
use crate::carrier::text::PartNumber;

/// One submit_sm as received, and the response to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedSubmit {
    /// Position among all submits, from 0.
    pub order: u64,
    /// Time since the carrier started.
    pub at: Duration,
    /// The link that received it, from 1.
    pub link: u64,
    pub sequence: u32,
    pub service_type: String,
    pub source: String,
    /// TON and NPI.
    pub source_kind: (u8, u8),
    pub destination: String,
    pub destination_kind: (u8, u8),
    /// The text of this part, decoded.
    pub text: String,
    pub part: Option<PartNumber>,
    pub data_coding: u8,
    pub esm_class: u8,
    pub protocol_id: u8,
    pub priority: u8,
    pub registered_delivery: u8,
    pub validity_period: String,
    pub schedule_delivery_time: String,
    /// The user data header with its length, where there is one.
    pub header: Vec<u8>,
    /// The text's octets without the header, from `short_message` or `message_payload`.
    pub octets: Vec<u8>,
    /// Whether the text was in `message_payload`.
    pub in_payload: bool,
    /// Tag and value, in order.
    pub tlvs: Vec<(u16, Vec<u8>)>,
    /// Every octet of the PDU.
    pub pdu: Vec<u8>,
    pub response: RecordedResponse,
}

impl ReceivedSubmit {
    /// Returns the value of a TLV.
    pub fn tlv(&self, tag: u16) -> Option<&[u8]> {
        self.tlvs.iter().find(|(has, _)| *has == tag).map(|(_, value)| value.as_slice())
    }
}

/// The carrier's response to a submit. Whether it arrived is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedResponse {
    Accepted {
        id: String,
    },
    Rejected(CommandStatus),
    /// A generic_nack.
    Nacked(CommandStatus),
    /// No response, and the message is forgotten.
    None,
    /// Accepted under this id, but no response was sent.
    Withheld {
        id: String,
    },
}

impl RecordedResponse {
    /// Whether the gateway was told that the message is not accepted.
    pub fn is_rejection(&self) -> bool {
        matches!(self, RecordedResponse::Rejected(_) | RecordedResponse::Nacked(_))
    }
}

/// One sent receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSent {
    pub at: Duration,
    pub link: u64,
    /// The id as written in the receipt.
    pub id: String,
    pub outcome: Outcome,
    /// The PDU was truncated.
    pub malformed: bool,
    /// The status of the gateway's response, if any.
    pub response: Option<CommandStatus>,
}

/// One sent MO part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoSent {
    pub at: Duration,
    pub link: u64,
    pub part: MoPart,
    /// The status of the gateway's response, if any.
    pub response: Option<CommandStatus>,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkEntry {
    pub number: u64,
    pub peer: SocketAddr,
    pub opened: Duration,
    /// None while the connection is open.
    pub closed: Option<Duration>,
}

/// One bind request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindAttempt {
    pub at: Duration,
    pub link: u64,
    pub system_id: String,
    pub kind: BindType,
    pub interface_version: u8,
    /// 0 if it was accepted.
    pub status: CommandStatus,
}

/// The counts of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RecordCounts {
    pub links_opened: u64,
    pub links_closed: u64,
    pub binds: u64,
    pub binds_rejected: u64,
    /// Unbind requests of the gateway.
    pub unbinds: u64,
    pub enquire_links: u64,
    /// PDUs received on muted links.
    pub dropped_pdus: u64,
    pub submits: u64,
    /// Accepted with an id.
    pub accepted: u64,
    pub rejected: u64,
    /// Without a response, and forgotten.
    pub ignored: u64,
    /// Submits beyond the script's `window_max`.
    pub window_violations: u64,
    /// Submits beyond the script's `rate_max`.
    pub rate_violations: u64,
    /// Including repetitions.
    pub receipts_sent: u64,
    /// Responses with status 0.
    pub receipts_accepted: u64,
    /// Responses with another status.
    pub receipts_rejected: u64,
    /// Without a response when the link ended or the time ran out; they are sent again.
    pub receipts_unanswered: u64,
    /// MO parts, including repetitions.
    pub mo_sent: u64,
    /// Responses with status 0.
    pub mo_accepted: u64,
    /// Copies of messages that were not rejected, beyond the first of each.
    pub duplicates: u64,
    /// Messages beyond the limit of the duplicate check.
    pub untracked: u64,
    /// Invalid octets and unexpected requests.
    pub protocol_errors: u64,
}
