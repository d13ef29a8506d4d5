//! What an SMPP customer wants to hear about a message, and the words in which it is told: which receipts, under which
//! addresses, with which reference. HTTP messages have none of it.

use crate::ids::MessageId;
use crate::receipt::{DlrCode, ReportStatus};
use smallvec::SmallVec;
use std::fmt;

/// Characters of the text that a receipt repeats, for connections that ask for it.
pub const QUOTE_CHARS_MAX: usize = 20;

/// How a message came in over SMPP.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub wish: RegisteredDelivery,
    /// It came on a 3.3 bind, whose ids have at most eight characters: it gets an alias, and is known by that there.
    pub short_id: bool,
    /// It came on a transmitter bind, which cannot take receipts.
    pub on_transmitter: bool,
    /// The customer's own number for it, given back in the receipt.
    pub reference: Option<u16>,
    /// Both ends as they stood in the request; a receipt names them the other way round.
    pub source: WrittenAddress,
    pub destination: WrittenAddress,
    /// The beginning of the text in GSM septets, where the connection wants it in receipts.
    pub quote: SmallVec<[u8; QUOTE_CHARS_MAX]>,
}

/// An address as a customer wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WrittenAddress {
    pub ton: u8,
    pub npi: u8,
    pub digits: SmallVec<[u8; 20]>,
}

impl WrittenAddress {
    pub fn new(ton: u8, npi: u8, digits: &[u8]) -> WrittenAddress {
        WrittenAddress { ton, npi, digits: SmallVec::from_slice(digits) }
    }
}

/// Never the quote, and of the numbers only what a log may hold: nothing.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin { wish, short_id, on_transmitter, reference, .. } = self;
        f.debug_struct("Origin")
            .field("wish", wish)
            .field("short_id", short_id)
            .field("on_transmitter", on_transmitter)
            .field("reference", reference)
            .finish_non_exhaustive()
    }
}

/// Which receipts are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisteredDelivery {
    pub success: bool,
    pub failure: bool,
    /// While it is on its way.
    pub intermediate: bool,
}

impl RegisteredDelivery {
    /// `registered_delivery` by its bits: 1 and 0 choose among final receipts, 4 asks for intermediate ones. Others mean
    /// nothing here.
    pub const fn of_registered_delivery(value: u8) -> RegisteredDelivery {
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

    /// Is this news for the customer?
    pub const fn wants(self, told: ReportStatus) -> bool {
        match told {
            ReportStatus::Enroute | ReportStatus::Accepted => self.intermediate,
            ReportStatus::Final(DlrCode::Delivrd) => self.success,
            ReportStatus::Final(_) => self.failure,
        }
    }
}

/// The name of a message on 3.3 binds: eight hexadecimal digits, the first not zero, unique within its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alias(u32);

impl Alias {
    pub const FIRST: Alias = Alias(0x1000_0000);

    pub const fn new(number: u32) -> Option<Alias> {
        if number >= Alias::FIRST.0 { Some(Alias(number)) } else { None }
    }

    pub const fn get(self) -> u32 {
        self.0
    }

    /// The one after it, the first after the last.
    #[must_use]
    pub const fn next(self) -> Alias {
        match self.0.checked_add(1) {
            Some(number) => Alias(number),
            None => Alias::FIRST,
        }
    }

    /// Eight hexadecimal digits in any case: clients fold them.
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

/// How a customer names a message: by its id, or on 3.3 binds by its alias. The two can be told apart by their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    fn registered_delivery_is_read_by_its_bits() {
        let table: Vec<String> = [0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x0c, 0xed]
            .into_iter()
            .map(|value| {
                let RegisteredDelivery { success, failure, intermediate } =
                    RegisteredDelivery::of_registered_delivery(value);
                let told = [(success, "success"), (failure, "failure"), (intermediate, "intermediate")];
                let told: Vec<&str> = told.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
                format!("{value:#04x} {}", told.join(" "))
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
    fn every_report_has_its_word_its_state_and_its_number() {
        let all = [ReportStatus::Enroute, ReportStatus::Accepted]
            .into_iter()
            .chain(DlrCode::ALL.map(ReportStatus::Final));
        let wish = RegisteredDelivery { success: true, ..RegisteredDelivery::default() };
        let table: Vec<String> = all
            .map(|told| {
                assert_eq!(ReportStatus::from_u8(told.as_u8()), Some(told));
                let state = told.message_state().map_or("-".to_owned(), |state| state.to_string());
                format!("{} {state} {} {}", told.word(), told.as_u8(), wish.wants(told))
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
    fn an_alias_has_eight_hexadecimal_digits() {
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
    fn a_logged_origin_shows_neither_addresses_nor_text() {
        let origin = Origin {
            wish: RegisteredDelivery::of_registered_delivery(1),
            short_id: false,
            on_transmitter: true,
            reference: Some(7),
            source: WrittenAddress::new(5, 0, b"Hermod"),
            destination: WrittenAddress::new(1, 1, b"491701234567"),
            quote: SmallVec::from_slice(b"secret"),
        };
        let shown = format!("{origin:?}");
        assert!(!shown.contains("4917") && !shown.contains("secret") && !shown.contains("115"), "{shown}");
    }
}
