//! What becomes of a taken message, and which receipts say so.

use std::time::Duration;

/// What a receipt says about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Enroute,
    Delivered,
    Expired,
    Deleted,
    Undeliverable,
    Accepted,
    Unknown,
    Rejected,
}

impl Outcome {
    pub const ALL: [Outcome; 8] = [
        Outcome::Enroute,
        Outcome::Delivered,
        Outcome::Expired,
        Outcome::Deleted,
        Outcome::Undeliverable,
        Outcome::Accepted,
        Outcome::Unknown,
        Outcome::Rejected,
    ];

    /// The word in a receipt's text (SMPP v3.4 appendix B).
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Enroute => "ENROUTE",
            Outcome::Delivered => "DELIVRD",
            Outcome::Expired => "EXPIRED",
            Outcome::Deleted => "DELETED",
            Outcome::Undeliverable => "UNDELIV",
            Outcome::Accepted => "ACCEPTD",
            Outcome::Unknown => "UNKNOWN",
            Outcome::Rejected => "REJECTD",
        }
    }

    /// The value of the `message_state` TLV (SMPP v3.4 §5.2.28).
    pub const fn message_state(self) -> u8 {
        match self {
            Outcome::Enroute => 1,
            Outcome::Delivered => 2,
            Outcome::Expired => 3,
            Outcome::Deleted => 4,
            Outcome::Undeliverable => 5,
            Outcome::Accepted => 6,
            Outcome::Unknown => 7,
            Outcome::Rejected => 8,
        }
    }

    /// ENROUTE and ACCEPTD say that more will follow.
    pub const fn is_final(self) -> bool {
        !matches!(self, Outcome::Enroute | Outcome::Accepted)
    }
}

/// Which links may bring a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReceiptLink {
    /// Any that is bound to receive.
    Any,
    /// Any but the one the message came on.
    OtherLink,
    /// None before the link that the message came on has ended.
    AfterLinkEnds,
}

/// Which receipts a taken message gets. Only messages that asked for receipts get any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipts {
    /// The last word on the message and when it comes, counted from the answer; none: it never comes.
    pub outcome: Option<(Duration, Outcome)>,
    /// An ENROUTE as well, this long after the answer.
    pub enroute_after: Option<Duration>,
    /// Everything goes out before the answer to the submit does.
    pub before_response: bool,
    /// Each receipt is sent this many times.
    pub copies: u8,
    /// Receipts carry an id that was never given.
    pub unknown_id: bool,
    /// The `err` field: three digits at most are sent.
    pub error_code: u16,
    pub way: ReceiptLink,
    /// A deliver_sm whose body ends too early goes out before each receipt.
    pub malformed_first: bool,
}

impl Receipts {
    pub const fn never() -> Receipts {
        Receipts {
            outcome: None,
            enroute_after: None,
            before_response: false,
            copies: 1,
            unknown_id: false,
            error_code: 0,
            way: ReceiptLink::Any,
            malformed_first: false,
        }
    }

    pub const fn after(delay: Duration, outcome: Outcome) -> Receipts {
        Receipts { outcome: Some((delay, outcome)), ..Receipts::never() }
    }

    #[must_use]
    pub const fn twice(self) -> Receipts {
        Receipts { copies: 2, ..self }
    }

    #[must_use]
    pub const fn via(self, way: ReceiptLink) -> Receipts {
        Receipts { way, ..self }
    }
}
