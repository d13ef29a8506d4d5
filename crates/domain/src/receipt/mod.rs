//! What carriers' receipts mean. A carrier tells the fate of a part by a word in the text of its receipt, by the
//! `message_state` parameter, or by both; carriers agree on neither spelling nor use. Here all of it becomes one
//! [`Outcome`]. What an outcome does to a message is the lifecycle's business.

mod errors;
mod report_status;

pub use errors::{NETWORK_CODE_MAX, PUBLISHED, PublishedError, STATUS_BASE};
pub use report_status::ReportStatus;

use std::fmt;

/// Longest unrecognised word kept, in characters.
pub const RAW_WORD_CHARS_MAX: usize = 32;

/// What a receipt says about a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Enroute,
    Accepted,
    Delivered,
    Undeliverable,
    Rejected,
    Expired,
    /// The carrier says that it does not know.
    Unknown,
    /// A word or number nobody has told us about, as it was received.
    Unrecognised(Box<str>),
}

impl Outcome {
    /// Reads a receipt that has a `message_state`, a `stat` word, or both. The number wins, being the one that no
    /// text template can garble, except where the word says more within the same fate: many carriers send 5 for
    /// everything that failed, and customers are told the carrier's own word.
    pub fn read(message_state: Option<u8>, stat: Option<&str>) -> Outcome {
        let by_number = message_state.map(Outcome::of_message_state);
        let by_word = stat.map(Outcome::of_word);
        match (by_number, by_word) {
            (Some(number), Some(word)) => number.refined_by(word),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => Outcome::Unrecognised("".into()),
        }
    }

    /// Reads the `stat` word in any case. Besides the words of SMPP v3.4 appendix B these are the spellings seen in
    /// the field, those for "buffered" as Kannel collected them.
    pub fn of_word(word: &str) -> Outcome {
        let word = word.trim();
        match word.to_ascii_uppercase().as_str() {
            "ENROUTE" | "BUFFRED" | "BUFFERD" | "BUFFERED" => Outcome::Enroute,
            "ACCEPTD" | "ACCEPTED" | "ACKED" => Outcome::Accepted,
            "DELIVRD" | "DELIVERED" => Outcome::Delivered,
            "UNDELIV" | "UNDELIVERED" | "UNDELIVERABLE" | "FAILED" | "DELETED" => Outcome::Undeliverable,
            "REJECTD" | "REJECTED" => Outcome::Rejected,
            "EXPIRED" => Outcome::Expired,
            "UNKNOWN" => Outcome::Unknown,
            _ => Outcome::Unrecognised(word.chars().take(RAW_WORD_CHARS_MAX).collect()),
        }
    }

    /// Reads the `message_state` parameter, SMPP v3.4 section 5.2.28.
    pub fn of_message_state(state: u8) -> Outcome {
        match state {
            1 => Outcome::Enroute,
            2 => Outcome::Delivered,
            3 => Outcome::Expired,
            // 4 is DELETED: somebody removed it at the carrier, so it will not arrive.
            4 | 5 => Outcome::Undeliverable,
            6 => Outcome::Accepted,
            7 => Outcome::Unknown,
            8 => Outcome::Rejected,
            other => Outcome::Unrecognised(other.to_string().into()),
        }
    }

    fn refined_by(self, word: Outcome) -> Outcome {
        let word_says_more = match (self.fate(), word.fate()) {
            (Fate::Silent, Fate::Pending | Fate::Delivered | Fate::Failed | Fate::Expired) => true,
            (Fate::Pending, Fate::Pending) | (Fate::Failed, Fate::Failed) => true,
            (Fate::Silent | Fate::Pending | Fate::Delivered | Fate::Failed | Fate::Expired, _) => false,
        };
        if word_says_more { word } else { self }
    }

    fn fate(&self) -> Fate {
        match self {
            Outcome::Enroute | Outcome::Accepted => Fate::Pending,
            Outcome::Delivered => Fate::Delivered,
            Outcome::Undeliverable | Outcome::Rejected => Fate::Failed,
            Outcome::Expired => Fate::Expired,
            Outcome::Unknown | Outcome::Unrecognised(_) => Fate::Silent,
        }
    }
}

/// What an outcome comes to, whatever it is called.
#[derive(Clone, Copy)]
enum Fate {
    Pending,
    Delivered,
    Failed,
    Expired,
    /// It tells nothing.
    Silent,
}

/// The code a customer sees, in the `dlr` field and in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DlrCode {
    Delivrd,
    Acceptd,
    Undeliv,
    Rejectd,
    Expired,
    Unknown,
}

impl DlrCode {
    pub const ALL: [DlrCode; 6] = [
        DlrCode::Delivrd,
        DlrCode::Acceptd,
        DlrCode::Undeliv,
        DlrCode::Rejectd,
        DlrCode::Expired,
        DlrCode::Unknown,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            DlrCode::Delivrd => "DELIVRD",
            DlrCode::Acceptd => "ACCEPTD",
            DlrCode::Undeliv => "UNDELIV",
            DlrCode::Rejectd => "REJECTD",
            DlrCode::Expired => "EXPIRED",
            DlrCode::Unknown => "UNKNOWN",
        }
    }

    /// The number the store keeps: SMPP's own for the same state. Never change one.
    pub const fn as_u8(self) -> u8 {
        match self {
            DlrCode::Delivrd => 2,
            DlrCode::Expired => 3,
            DlrCode::Undeliv => 5,
            DlrCode::Acceptd => 6,
            DlrCode::Unknown => 7,
            DlrCode::Rejectd => 8,
        }
    }

    pub fn from_u8(stored: u8) -> Option<DlrCode> {
        DlrCode::ALL.into_iter().find(|code| code.as_u8() == stored)
    }
}

impl fmt::Display for DlrCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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

    /// Reads the `network_error_code` parameter: one octet for the kind of network, then the code (SMPP v3.4
    /// section 5.3.2.31).
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
mod tests {
    use super::*;

    #[track_caller]
    fn check(message_state: Option<u8>, stat: Option<&str>, expect: &str) {
        let told = format!("{:?}", Outcome::read(message_state, stat));
        assert_eq!(told, expect, "message_state {message_state:?}, stat {stat:?}");
    }

    #[test]
    fn words_alone_are_read_in_every_spelling() {
        for (words, expect) in [
            ("ENROUTE BUFFRED BUFFERD BUFFERED enroute", "Enroute"),
            ("ACCEPTD ACCEPTED ACKED", "Accepted"),
            ("DELIVRD DELIVERED Delivrd delivrd", "Delivered"),
            ("UNDELIV UNDELIVERED UNDELIVERABLE FAILED DELETED", "Undeliverable"),
            ("REJECTD REJECTED", "Rejected"),
            ("EXPIRED", "Expired"),
            ("UNKNOWN", "Unknown"),
        ] {
            for word in words.split(' ') {
                check(None, Some(word), expect);
            }
        }
        check(None, Some(" DELIVRD\r"), "Delivered");
    }

    #[test]
    fn numbers_alone_are_read() {
        let expect = [
            r#"Unrecognised("0")"#,
            "Enroute",
            "Delivered",
            "Expired",
            "Undeliverable",
            "Undeliverable",
            "Accepted",
            "Unknown",
            "Rejected",
            r#"Unrecognised("9")"#,
        ];
        for (state, expect) in (0..).zip(expect) {
            check(Some(state), None, expect);
        }
        check(Some(255), None, r#"Unrecognised("255")"#);
    }

    #[test]
    fn the_number_wins_over_the_word() {
        check(Some(2), Some("UNDELIV"), "Delivered");
        check(Some(5), Some("DELIVRD"), "Undeliverable");
        check(Some(1), Some("DELIVRD"), "Enroute");
        check(Some(3), Some("UNDELIV"), "Expired");
        check(Some(2), Some("gibberish"), "Delivered");
    }

    #[test]
    fn the_word_wins_where_it_says_more() {
        check(Some(5), Some("REJECTD"), "Rejected");
        check(Some(8), Some("UNDELIV"), "Undeliverable");
        check(Some(1), Some("ACCEPTD"), "Accepted");
        check(Some(6), Some("ENROUTE"), "Enroute");
        check(Some(7), Some("DELIVRD"), "Delivered");
        check(Some(0), Some("EXPIRED"), "Expired");
    }

    #[test]
    fn what_nobody_knows_is_kept_as_it_came() {
        check(None, Some("Gone-42"), r#"Unrecognised("Gone-42")"#);
        check(None, Some(""), r#"Unrecognised("")"#);
        check(None, None, r#"Unrecognised("")"#);
        check(Some(7), Some("gibberish"), "Unknown");
        check(None, Some(&"é".repeat(40)), &format!("Unrecognised({:?})", "é".repeat(32)));
    }

    #[test]
    fn stored_codes_never_change() {
        let table = DlrCode::ALL.map(|code| format!("{code} {}", code.as_u8()));
        assert_eq!(table, ["DELIVRD 2", "ACCEPTD 6", "UNDELIV 5", "REJECTD 8", "EXPIRED 3", "UNKNOWN 7"]);
        for stored in 0..=u8::MAX {
            let back = DlrCode::from_u8(stored).map(DlrCode::as_u8);
            assert_eq!(back, [2, 3, 5, 6, 7, 8].contains(&stored).then_some(stored));
        }
    }
}
