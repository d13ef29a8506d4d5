//! The SMPP origin of a message: the DLRs that the customer requested, and the addresses and reference that they
//! repeat. HTTP messages have none.

use crate::ids::MessageId;
use crate::receipt::{DlrCode, ReportStatus};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// Characters of the text that a receipt repeats, if the connection has that enabled.
pub const QUOTE_CHARS_MAX: usize = 20;

/// The parameters of the submit_sm that its receipts need.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub registered_delivery: RegisteredDelivery,
    /// Submitted on a 3.3 bind, whose message ids have at most eight characters: the message gets an [`Alias`].
    pub short_id: bool,
    /// Submitted on a transmitter bind, which cannot receive receipts.
    pub on_transmitter: bool,
    /// The customer's `user_message_reference`, repeated in receipts.
    pub reference: Option<u16>,
    /// The addresses of the submit_sm; a receipt has them swapped.
    pub source: SmppAddress,
    pub destination: SmppAddress,
    /// The start of the text in GSM septets, if the connection's receipts repeat it.
    #[serde(with = "crate::octets")]
    pub quote: SmallVec<[u8; QUOTE_CHARS_MAX]>,
}

/// An SMPP address as the peer sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SmppAddress {
    pub ton: u8,
    pub npi: u8,
    #[serde(with = "crate::octets")]
    pub digits: SmallVec<[u8; 20]>,
}

impl SmppAddress {
    pub fn new(ton: u8, npi: u8, digits: &[u8]) -> SmppAddress {
        SmppAddress { ton, npi, digits: SmallVec::from_slice(digits) }
    }
}

/// Prints neither the text nor the addresses.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin { registered_delivery, short_id, on_transmitter, reference, .. } = self;
        f.debug_struct("Origin")
            .field("registered_delivery", registered_delivery)
            .field("short_id", short_id)
            .field("on_transmitter", on_transmitter)
            .field("reference", reference)
            .finish_non_exhaustive()
    }
}

/// The DLRs that a customer requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RegisteredDelivery {
    pub success: bool,
    pub failure: bool,
    /// Reports of non-final statuses.
    pub intermediate: bool,
}

impl RegisteredDelivery {
    /// Decodes `registered_delivery`: bits 1 and 0 select final receipts, bit 4 requests intermediate ones, others are
    /// ignored (SMPP v3.4 section 5.2.17).
    pub const fn from_octet(value: u8) -> RegisteredDelivery {
        let (success, failure) = match value & 0b11 {
            0 => (false, false),
            1 => (true, true),
            2 => (false, true),
            _ => (true, false),
        };
        RegisteredDelivery { success, failure, intermediate: value & 0x10 != 0 }
    }

    pub const fn is_none(self) -> bool {
        !(self.success || self.failure || self.intermediate)
    }

    /// Whether registered_delivery asks for a receipt with this status.
    pub const fn asks_for(self, status: ReportStatus) -> bool {
        match status {
            ReportStatus::Enroute | ReportStatus::Accepted => self.intermediate,
            ReportStatus::Final(DlrCode::Delivrd) => self.success,
            ReportStatus::Final(_) => self.failure,
        }
    }
}

/// The id of a message on 3.3 binds: eight hexadecimal digits, the first not zero, unique within the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Alias(u32);

impl Alias {
    pub const FIRST: Alias = Alias(0x1000_0000);

    pub const fn new(number: u32) -> Option<Alias> {
        if number >= Alias::FIRST.0 { Some(Alias(number)) } else { None }
    }

    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the next alias; the first follows the last.
    #[must_use]
    pub const fn next(self) -> Alias {
        match self.0.checked_add(1) {
            Some(number) => Alias(number),
            None => Alias::FIRST,
        }
    }

    /// Parses eight hexadecimal digits in either case, because some clients change it.
    pub fn parse(text: &str) -> Option<Alias> {
        if text.len() != 8 || !text.bytes().all(|octet| octet.is_ascii_hexdigit()) {
            return None;
        }
        Alias::new(u32::from_str_radix(text, 16).ok()?)
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}", self.0)
    }
}

/// The id by which a customer names a message: its message id, or on 3.3 binds its alias. They differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageName {
    Id(MessageId),
    Alias(Alias),
}

impl MessageName {
    pub fn parse(text: &str) -> Option<MessageName> {
        let alias = Alias::parse(text).map(MessageName::Alias);
        alias.or_else(|| MessageId::parse(text).map(MessageName::Id))
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
