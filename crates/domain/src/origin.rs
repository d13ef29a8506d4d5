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
mod tests {
    use super::*;

    #[test]
    fn registered_delivery_is_decoded_by_bits() {
        let table: Vec<String> = [0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x0c, 0xed]
            .into_iter()
            .map(|value| {
                let RegisteredDelivery { success, failure, intermediate } =
                    RegisteredDelivery::from_octet(value);
                let status = [(success, "success"), (failure, "failure"), (intermediate, "intermediate")];
                let status: Vec<&str> =
                    status.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
                format!("{value:#04x} {}", status.join(" "))
            })
            .collect();
        let expect = [
            "0x00 ",
            "0x01 success failure",
            "0x02 failure",
            "0x03 success",
            "0x10 intermediate",
            "0x11 success failure intermediate",
            "0x12 failure intermediate",
            "0x13 success intermediate",
            "0x0c ",
            "0xed success failure",
        ];
        assert_eq!(table, expect);
    }

    #[test]
    fn every_status_has_a_word_a_message_state_and_a_stored_number() {
        let all = [ReportStatus::Enroute, ReportStatus::Accepted]
            .into_iter()
            .chain(DlrCode::ALL.map(ReportStatus::Final));
        let registered_delivery = RegisteredDelivery { success: true, ..RegisteredDelivery::default() };
        let table: Vec<String> = all
            .map(|status| {
                assert_eq!(ReportStatus::from_u8(status.as_u8()), Some(status));
                let state = status.message_state().map_or("-".to_owned(), |state| state.to_string());
                format!(
                    "{} {state} {} {}",
                    status.word(),
                    status.as_u8(),
                    registered_delivery.asks_for(status)
                )
            })
            .collect();
        let expect = [
            "ENROUTE 1 101 false",
            "ACCEPTD 6 106 false",
            "DELIVRD 2 2 true",
            "ACCEPTD 6 6 false",
            "UNDELIV 5 5 false",
            "REJECTD 5 8 false",
            "EXPIRED 3 3 false",
            "UNKNOWN - 7 false",
        ];
        assert_eq!(table, expect);
        assert_eq!(ReportStatus::from_u8(0), None);
    }

    #[test]
    fn alias_has_eight_hexadecimal_digits() {
        for (text, expect) in [
            ("10000000", Some("10000000")),
            ("ffffFFFF", Some("FFFFFFFF")),
            ("0FFFFFFF", None),
            ("1000000", None),
            ("100000000", None),
            ("1000000G", None),
            ("+1000000", None),
        ] {
            assert_eq!(Alias::parse(text).map(|alias| alias.to_string()).as_deref(), expect, "{text}");
        }
        assert_eq!(Alias::parse("FFFFFFFF").map(Alias::next), Some(Alias::FIRST));
        assert!(matches!(MessageName::parse("12345678"), Some(MessageName::Alias(_))));
        assert!(matches!(MessageName::parse("123456789012345"), Some(MessageName::Id(_))));
        assert_eq!(MessageName::parse("0123456789"), None);
    }

    #[test]
    fn debug_output_has_neither_addresses_nor_text() {
        let origin = Origin {
            registered_delivery: RegisteredDelivery::from_octet(1),
            short_id: false,
            on_transmitter: true,
            reference: Some(7),
            source: SmppAddress::new(5, 0, b"Hermod"),
            destination: SmppAddress::new(1, 1, b"491701234567"),
            quote: SmallVec::from_slice(b"secret"),
        };
        let printed = format!("{origin:?}");
        assert!(
            !printed.contains("4917") && !printed.contains("secret") && !printed.contains("115"),
            "{printed}"
        );
    }
}
