//! Interprets carriers' delivery receipts. A receipt gives the status of a part as a word in its text (`stat`), as the
//! `message_state` TLV, or as both, and carriers differ in spelling and use. Both become one [`ReceiptStatus`];
//! `lifecycle` decides how that changes the message.

mod errors;
mod report_status;
mod words;

pub use errors::{DLR_ERRORS, DlrError, NETWORK_CODE_MAX, STATUS_BASE};
pub use report_status::ReportStatus;
pub use words::{RECEIPT_WORDS_OCTETS_MAX, ReceiptWords};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest unrecognised word that is stored, in characters.
pub const RAW_WORD_CHARS_MAX: usize = 32;

/// The status of a part that a receipt reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptStatus {
    Enroute,
    Accepted,
    Delivered,
    Undeliverable,
    Rejected,
    Expired,
    /// The carrier reports that it does not know the status.
    Unknown,
    /// An unknown word or state, as received.
    Unrecognised(Box<str>),
}

impl ReceiptStatus {
    /// Returns the status of a receipt with a `message_state`, a `stat` word, or both. `message_state` takes
    /// precedence, because no text template can garble it, except where the word is more specific within the same
    /// group: many carriers send 5 for every failure, and customers get the carrier's own word.
    pub fn read(message_state: Option<u8>, stat: Option<&str>) -> ReceiptStatus {
        let by_state = message_state.map(ReceiptStatus::of_message_state);
        let by_word = stat.map(ReceiptStatus::parse);
        match (by_state, by_word) {
            (Some(state), Some(word)) => state.refined_by(word),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => ReceiptStatus::Unrecognised("".into()),
        }
    }

    /// Parses the `stat` word in any case: the words of SMPP v3.4 appendix B, and spellings that carriers use (those
    /// for "buffered" as Kannel lists them).
    pub fn parse(word: &str) -> ReceiptStatus {
        let word = word.trim();
        match word.to_ascii_uppercase().as_str() {
            "ENROUTE" | "BUFFRED" | "BUFFERD" | "BUFFERED" => ReceiptStatus::Enroute,
            "ACCEPTD" | "ACCEPTED" | "ACKED" => ReceiptStatus::Accepted,
            "DELIVRD" | "DELIVERED" => ReceiptStatus::Delivered,
            "UNDELIV" | "UNDELIVERED" | "UNDELIVERABLE" | "FAILED" | "DELETED" => {
                ReceiptStatus::Undeliverable
            }
            "REJECTD" | "REJECTED" => ReceiptStatus::Rejected,
            "EXPIRED" => ReceiptStatus::Expired,
            "UNKNOWN" => ReceiptStatus::Unknown,
            _ => ReceiptStatus::Unrecognised(word.chars().take(RAW_WORD_CHARS_MAX).collect()),
        }
    }

    /// Interprets the `message_state` TLV (SMPP v3.4 section 5.2.28).
    pub fn of_message_state(state: u8) -> ReceiptStatus {
        match state {
            1 => ReceiptStatus::Enroute,
            2 => ReceiptStatus::Delivered,
            3 => ReceiptStatus::Expired,
            // 4 is DELETED: removed at the carrier, so it will not be delivered.
            4 | 5 => ReceiptStatus::Undeliverable,
            6 => ReceiptStatus::Accepted,
            7 => ReceiptStatus::Unknown,
            8 => ReceiptStatus::Rejected,
            other => ReceiptStatus::Unrecognised(other.to_string().into()),
        }
    }

    fn refined_by(self, word: ReceiptStatus) -> ReceiptStatus {
        let is_word_more_specific = match (self.group(), word.group()) {
            (
                StatusGroup::Unknown,
                StatusGroup::Pending | StatusGroup::Delivered | StatusGroup::Failed | StatusGroup::Expired,
            ) => true,
            (StatusGroup::Pending, StatusGroup::Pending) | (StatusGroup::Failed, StatusGroup::Failed) => true,
            (
                StatusGroup::Unknown
                | StatusGroup::Pending
                | StatusGroup::Delivered
                | StatusGroup::Failed
                | StatusGroup::Expired,
                _,
            ) => false,
        };
        if is_word_more_specific { word } else { self }
    }

    fn group(&self) -> StatusGroup {
        match self {
            ReceiptStatus::Enroute | ReceiptStatus::Accepted => StatusGroup::Pending,
            ReceiptStatus::Delivered => StatusGroup::Delivered,
            ReceiptStatus::Undeliverable | ReceiptStatus::Rejected => StatusGroup::Failed,
            ReceiptStatus::Expired => StatusGroup::Expired,
            ReceiptStatus::Unknown | ReceiptStatus::Unrecognised(_) => StatusGroup::Unknown,
        }
    }
}

/// Statuses that mean the same for the message.
#[derive(Clone, Copy)]
enum StatusGroup {
    Pending,
    Delivered,
    Failed,
    Expired,
    /// Nothing is known.
    Unknown,
}

named! {
    /// The DLR code that customers get, in the `dlr` field and in reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum DlrCode (as_u8, from_u8: u8) {
        Delivrd = 2 "DELIVRD",
        Acceptd = 6 "ACCEPTD",
        Undeliv = 5 "UNDELIV",
        Rejectd = 8 "REJECTD",
        Expired = 3 "EXPIRED",
        Unknown = 7 "UNKNOWN",
    }
}

/// A carrier's error code, zero when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ErrCode(u16);

impl ErrCode {
    pub const NONE: ErrCode = ErrCode(0);

    pub const fn new(code: u16) -> ErrCode {
        ErrCode(code)
    }

    pub const fn get(self) -> u16 {
        self.0
    }

    /// Reads the `network_error_code` TLV: one octet for the network type, then the code (SMPP v3.4 section 5.3.2.31).
    pub fn of_network_error([_network, high, low]: [u8; 3]) -> ErrCode {
        ErrCode::of_network(u16::from_be_bytes([high, low]))
    }
}

impl fmt::Display for ErrCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests;
