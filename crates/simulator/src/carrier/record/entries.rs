//! What the record says of each submit, receipt, bind and link, and everything that is counted.

use std::net::SocketAddr;
use std::time::Duration;

use hermod_smpp::{BindType, CommandStatus};
use serde::Serialize;

use crate::carrier::mo::MoPart;
use crate::carrier::outcome::Outcome;
use crate::carrier::text::Part;

/// One submit_sm as it arrived, and what was done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    /// Position among all submits, from 0.
    pub order: u64,
    /// Time since the carrier started.
    pub at: Duration,
    /// Number of the link it came on, from 1.
    pub link: u64,
    pub sequence: u32,
    pub service_type: String,
    pub source: String,
    /// Type of number and numbering plan.
    pub source_kind: (u8, u8),
    pub destination: String,
    pub destination_kind: (u8, u8),
    /// The text of this part, decoded.
    pub text: String,
    pub part: Option<Part>,
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
    /// They came in `message_payload`.
    pub in_payload: bool,
    /// All of them, by tag, in order.
    pub tlvs: Vec<(u16, Vec<u8>)>,
    /// Every octet of the PDU.
    pub pdu: Vec<u8>,
    pub answer: SubmitResponse,
}

impl Submit {
    /// The value of a TLV, where it came.
    pub fn tlv(&self, tag: u16) -> Option<&[u8]> {
        self.tlvs.iter().find(|(has, _)| *has == tag).map(|(_, value)| value.as_slice())
    }
}

/// What the carrier decided. Whether an answer arrived only the other side can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitResponse {
    Accepted {
        id: String,
    },
    Refused(CommandStatus),
    /// A generic_nack.
    Nacked(CommandStatus),
    Silent,
    /// Taken under this id, but the answer never went out.
    Withheld {
        id: String,
    },
}

impl SubmitResponse {
    /// The carrier has not got it, and said so.
    pub fn is_refusal(&self) -> bool {
        matches!(self, SubmitResponse::Refused(_) | SubmitResponse::Nacked(_))
    }
}

/// One receipt as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSent {
    pub at: Duration,
    pub link: u64,
    /// The id as it stands in the receipt.
    pub id: String,
    pub outcome: Outcome,
    /// Its body ended too early.
    pub malformed: bool,
    /// The gateway's answer; none yet, or never.
    pub answer: Option<CommandStatus>,
}

/// One message from a handset as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoSent {
    pub at: Duration,
    pub link: u64,
    pub part: MoPart,
    /// The gateway's answer; none yet, or never.
    pub answer: Option<CommandStatus>,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkEntry {
    pub number: u64,
    pub peer: SocketAddr,
    pub opened: Duration,
    /// None while it is open.
    pub closed: Option<Duration>,
}

/// One attempt to bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindAttempt {
    pub at: Duration,
    pub link: u64,
    pub system_id: String,
    pub kind: BindType,
    pub interface_version: u8,
    /// 0 where it was accepted.
    pub status: CommandStatus,
}

/// Everything that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub links_opened: u64,
    pub links_closed: u64,
    pub binds: u64,
    pub binds_rejected: u64,
    /// Unbinds the gateway sent.
    pub unbinds: u64,
    pub enquire_links: u64,
    /// PDUs that came on links where the carrier plays dead.
    pub unheard: u64,
    pub submits: u64,
    /// Taken, with an id.
    pub accepted: u64,
    pub refused: u64,
    pub silent: u64,
    /// Submits beyond the script's `window_max`.
    pub window_violations: u64,
    /// Submits beyond the script's `rate_max`.
    pub rate_violations: u64,
    /// deliver_sm that went out, repetitions included.
    pub receipts_sent: u64,
    /// Answered with status 0.
    pub receipts_accepted: u64,
    /// Answered with another status.
    pub receipts_rejected: u64,
    /// Sent, and the link ended or the time ran out before an answer: they are sent again.
    pub receipts_unanswered: u64,
    /// Messages from handsets that went out, repetitions included.
    pub mo_sent: u64,
    /// Answered with status 0.
    pub mo_accepted: u64,
    /// Duplicates of messages that were not refused, beyond the first of each.
    pub duplicates: u64,
    /// Messages past the limit of what is told apart: duplicates among them are not seen.
    pub untracked: u64,
    /// ByteStream or requests that made no sense.
    pub protocol_errors: u64,
}
