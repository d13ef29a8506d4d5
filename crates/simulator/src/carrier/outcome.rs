//! The outcome of an accepted message and the receipts that report it.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::duration::{deserialize_duration, deserialize_some_duration};

/// The state that a receipt reports, with its value in the `message_state` TLV (SMPP v3.4 §5.2.28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Enroute = 1,
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

    /// The `stat` word in a receipt's text (SMPP v3.4 appendix B).
    pub const fn word(self) -> &'static str {
        ["ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "UNKNOWN", "REJECTD"]
            [self as usize - 1]
    }

    /// Whether no other receipt follows: false for ENROUTE and ACCEPTD.
    pub const fn is_final(self) -> bool {
        !matches!(self, Outcome::Enroute | Outcome::Accepted)
    }
}

/// Which links may send a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptLink {
    /// Any link that is bound to receive.
    Any,
    /// Any link except the one of the submit.
    OtherLink,
    /// Any link, but only after the link of the submit has ended.
    AfterLinkEnds,
}

/// The receipts of an accepted message. Messages whose registered_delivery asks for none get none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Receipts {
    /// None: no final receipt is sent.
    #[serde(deserialize_with = "final_outcome")]
    pub outcome: Option<Outcome>,
    /// Time from the response to the final receipt.
    #[serde(deserialize_with = "deserialize_duration")]
    pub after: Duration,
    /// Also sends an ENROUTE receipt, this long after the response.
    #[serde(deserialize_with = "deserialize_some_duration")]
    pub enroute_after: Option<Duration>,
    /// Sends all receipts before the response to the submit.
    pub before_response: bool,
    /// How often each receipt is sent.
    pub copies: u8,
    /// Receipts carry an id that no response contained.
    pub unknown_id: bool,
    /// The `err` field, at most three digits.
    pub error_code: u16,
    pub via: ReceiptLink,
    /// Sends a truncated deliver_sm before each receipt.
    pub malformed_first: bool,
}

impl Default for Receipts {
    fn default() -> Receipts {
        Receipts::after(Duration::ZERO, Outcome::Delivered)
    }
}

impl Receipts {
    pub const fn never() -> Receipts {
        Receipts {
            outcome: None,
            after: Duration::ZERO,
            enroute_after: None,
            before_response: false,
            copies: 1,
            unknown_id: false,
            error_code: 0,
            via: ReceiptLink::Any,
            malformed_first: false,
        }
    }

    pub const fn after(delay: Duration, outcome: Outcome) -> Receipts {
        Receipts { outcome: Some(outcome), after: delay, ..Receipts::never() }
    }

    #[must_use]
    pub const fn twice(self) -> Receipts {
        Receipts { copies: 2, ..self }
    }

    #[must_use]
    pub const fn via(self, via: ReceiptLink) -> Receipts {
        Receipts { via, ..self }
    }
}

/// Deserializes the `stat` word of a final receipt, or `none` for no final receipt.
fn final_outcome<'de, D: Deserializer<'de>>(word: D) -> Result<Option<Outcome>, D::Error> {
    let word = String::deserialize(word)?;
    if word == "none" {
        return Ok(None);
    }
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word().eq_ignore_ascii_case(&word));
    outcome.map(Some).ok_or_else(|| {
        let words: Vec<&str> = Outcome::ALL.into_iter().map(Outcome::word).collect();
        D::Error::custom(format!("{word:?} is not an outcome: expected {} or none", words.join(", ")))
    })
}
