//! The one table of error codes: what the `err_code` of a report means in words, and which of carriers' words for failures
//! stand for which code. Networks number their errors alike (3GPP TS 29.002), so those numbers are kept; a status that the
//! carrier answered a submission with, and words without a number, have ranges of their own, so that no code means two
//! things. Printed in docs/webhooks.md; a test compares.

use super::{DlrCode, ErrCode, ReportStatus};
use std::borrow::Cow;

/// The largest code that a carrier's receipt can bring. Larger ones are private languages.
pub const NETWORK_CODE_MAX: u16 = 9_999;
/// What a status of SMPP is counted from, where the carrier refused the message itself.
pub const STATUS_BASE: u16 = 10_000;
/// A status beyond what has a code of its own.
const STATUS_OTHER: u16 = 19_999;
/// A word that nobody has told us about, or a number that is too large.
const WORD_OTHER: u16 = 20_000;

/// One code that is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedError {
    pub code: u16,
    pub description: &'static str,
    /// What carriers write instead of the number, in capitals, with `_` for whatever stands between the words.
    pub words: &'static [&'static str],
}

const fn row(code: u16, description: &'static str, words: &'static [&'static str]) -> PublishedError {
    PublishedError { code, description, words }
}

/// In the order of the codes.
pub const PUBLISHED: [PublishedError; 44] = [
    row(0, "No error", &["OK", "NONE", "NULL", "NO_ERROR", "SUCCESS", "DELIVRD"]),
    row(1, "Unknown subscriber", &["UNKNOWN_SUBSCRIBER", "UNKNOWN_SUB", "INVALID_NUMBER", "BAD_NUMBER"]),
    row(5, "Unidentified subscriber", &["UNIDENTIFIED_SUBSCRIBER"]),
    row(
        6,
        "Subscriber not reachable",
        &["UNREACHABLE", "NOT_REACHABLE", "ABSENT_SUBSCRIBER_SM", "SWITCHED_OFF", "OFF", "DETACHED"],
    ),
    row(8, "Roaming not allowed", &["ROAMING", "ROAMING_NOT_ALLOWED"]),
    row(9, "Illegal subscriber", &["ILLEGAL_SUBSCRIBER"]),
    row(10, "Bearer service not provisioned", &["BEARER_SERVICE_NOT_PROVISIONED"]),
    row(11, "Teleservice not provisioned", &["TELESERVICE_NOT_PROVISIONED", "NO_SMS_SERVICE"]),
    row(12, "Illegal equipment", &["ILLEGAL_EQUIPMENT"]),
    row(13, "Barred", &["BARRED", "CALL_BARRED", "SUBSCRIBER_BARRED"]),
    row(15, "Outside the closed user group", &["CUG_REJECT"]),
    row(21, "Facility not supported", &["FACILITY_NOT_SUPPORTED", "NOT_SUPPORTED"]),
    row(27, "Absent subscriber", &["ABSENT", "ABSENT_SUBSCRIBER", "ABSENT_SUB", "ABSENTSUB"]),
    row(28, "Incompatible terminal", &["INCOMPATIBLE_TERMINAL"]),
    row(31, "Subscriber busy", &["BUSY", "SUBSCRIBER_BUSY", "SUBSCRIBER_BUSY_FOR_MT_SMS", "MS_BUSY"]),
    row(
        32,
        "Handset could not take the message",
        &["SM_DELIVERY_FAILURE", "MEMORY_FULL", "MEMORY_CAPACITY_EXCEEDED", "SIM_FULL", "DELIVERY_FAILURE"],
    ),
    row(33, "Message waiting list full", &["MESSAGE_WAITING_LIST_FULL"]),
    row(34, "System failure", &["SYSTEM_FAILURE", "NETWORK_ERROR", "NETWORK_FAILURE", "SYSTEM_ERROR"]),
    row(35, "Data missing", &["DATA_MISSING"]),
    row(36, "Unexpected data value", &["UNEXPECTED_DATA_VALUE"]),
    row(10_001, "The carrier refused it: the message is too long", &[]),
    row(10_008, "The carrier refused it: system error", &[]),
    row(10_010, "The carrier refused it: source address", &[]),
    row(10_011, "The carrier refused it: destination address", &[]),
    row(10_017, "The carrier refused it: cancelled", &[]),
    row(10_020, "The carrier refused it: its queue is full", &[]),
    row(10_051, "The carrier refused it: number of destinations", &[]),
    row(10_067, "The carrier refused it: esm_class", &[]),
    row(10_069, "The carrier refused it: submission failed", &[]),
    row(10_072, "The carrier refused it: type of the source number", &[]),
    row(10_073, "The carrier refused it: numbering plan of the source", &[]),
    row(10_080, "The carrier refused it: type of the destination number", &[]),
    row(10_081, "The carrier refused it: numbering plan of the destination", &[]),
    row(10_088, "The carrier refused it: too many messages", &[]),
    row(10_097, "The carrier refused it: scheduled time", &[]),
    row(10_098, "The carrier refused it: validity period", &[]),
    row(10_255, "The carrier refused it: unknown error", &[]),
    row(19_999, "The carrier refused it with a status of its own", &[]),
    row(20_000, "The carrier gave a code that is not in this table", &[]),
    row(20_001, "Blocked as unwanted content", &["SPAM", "CONTENT", "FILTERED", "CONTENT_BLOCKED"]),
    row(
        20_002,
        "The recipient is on a list of those who get no messages",
        &["DND", "BLACKLIST", "BLACKLISTED"],
    ),
    row(20_003, "The sender is not allowed", &["INVALID_SENDER", "SENDER_BLOCKED", "SENDER_NOT_ALLOWED"]),
    row(20_004, "No answer from the network in time", &["TIMEOUT", "NO_RESPONSE", "HLR_TIMEOUT"]),
    row(20_005, "No credit at the carrier", &["NO_CREDIT", "INSUFFICIENT_CREDIT", "CREDIT"]),
];

impl ErrCode {
    /// Reads the `err` field of a receipt's text: decimal however many zeros are in front, hexadecimal behind `0x`, or
    /// one of the words of the table. What is none of these is a code of its own: something went wrong, and nobody has
    /// told us what.
    pub fn of_word(word: &str) -> ErrCode {
        let word = word.trim();
        if word.is_empty() {
            return ErrCode::NONE;
        }
        if word.bytes().all(|octet| octet.is_ascii_digit()) {
            return ErrCode::of_network(word.parse::<u16>().unwrap_or(u16::MAX));
        }
        let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        if let Some(digits) = hex.filter(|digits| digits.bytes().all(|octet| octet.is_ascii_hexdigit())) {
            return ErrCode::of_network(u16::from_str_radix(digits, 16).unwrap_or(u16::MAX));
        }
        let word = in_the_table(word);
        let plain = word.strip_prefix("EC_").unwrap_or(&word);
        let known = PUBLISHED.iter().find(|row| row.words.contains(&plain));
        known.map_or(ErrCode(WORD_OTHER), |row| ErrCode(row.code))
    }

    /// The code of a status with which a carrier refused the message itself.
    pub fn of_status(status: u32) -> ErrCode {
        let code = u16::try_from(status).ok().and_then(|status| status.checked_add(STATUS_BASE));
        ErrCode(code.filter(|code| *code < STATUS_OTHER).unwrap_or(STATUS_OTHER))
    }

    pub(super) const fn of_network(code: u16) -> ErrCode {
        if code <= NETWORK_CODE_MAX { ErrCode(code) } else { ErrCode(WORD_OTHER) }
    }

    /// As SMPP customers are told it, who expect the carrier's own number: a status without what it is counted from.
    pub const fn on_the_wire(self) -> u16 {
        match self.0 {
            STATUS_BASE..STATUS_OTHER => self.0 - STATUS_BASE,
            other => other,
        }
    }

    /// In words. Where there is no code, what happened says it.
    pub fn description(self, told: ReportStatus) -> Cow<'static, str> {
        if self == ErrCode::NONE {
            return Cow::Borrowed(without_code(told));
        }
        if let Some(row) = PUBLISHED.iter().find(|row| row.code == self.0) {
            return Cow::Borrowed(row.description);
        }
        Cow::Owned(match self.0 {
            STATUS_BASE..STATUS_OTHER => {
                format!("The carrier refused it with status {:#06x}", self.on_the_wire())
            }
            code => format!("The carrier's error {code}"),
        })
    }
}

/// What stands for the description where the carrier gave no code.
const fn without_code(told: ReportStatus) -> &'static str {
    match told {
        ReportStatus::Enroute
        | ReportStatus::Accepted
        | ReportStatus::Final(DlrCode::Delivrd | DlrCode::Acceptd) => "No error",
        ReportStatus::Final(DlrCode::Undeliv) => "Undeliverable, no reason given",
        ReportStatus::Final(DlrCode::Rejectd) => "Rejected, no reason given",
        ReportStatus::Final(DlrCode::Expired) => "Validity period elapsed",
        ReportStatus::Final(DlrCode::Unknown) => "No receipt from the carrier",
    }
}

/// A carrier's word as the table has it.
fn in_the_table(word: &str) -> String {
    let capitals = word.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    capitals.take(super::RAW_WORD_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_read_as_numbers_hexadecimals_and_words() {
        for (word, expect) in [
            ("000", 0),
            ("034", 34),
            (" 7 ", 7),
            ("00000000012", 12),
            ("9999", 9_999),
            ("10000", 20_000),
            ("65536", 20_000),
            ("", 0),
            ("OK", 0),
            ("none", 0),
            ("-1", 20_000),
            ("0x0B", 11),
            ("0X1b", 27),
            ("0x", 20_000),
            ("0xZZ", 20_000),
            ("EC_7", 20_000),
            ("EC_TELESERVICE_NOT_PROVISIONED", 11),
            ("ABSENT", 27),
            ("absent-subscriber", 27),
            ("Absent Subscriber", 27),
            ("Memory.Full", 32),
            ("SPAM", 20_001),
            ("0x1F-ABSENT", 20_000),
        ] {
            assert_eq!(ErrCode::of_word(word).get(), expect, "{word:?}");
        }
        assert_eq!(ErrCode::of_network_error([3, 0x01, 0x02]).get(), 258);
        assert_eq!(ErrCode::of_network_error([3, 0xff, 0xff]).get(), 20_000);
    }

    #[test]
    fn a_refusals_status_has_a_code_of_its_own_and_is_told_as_it_came_over_smpp() {
        for (status, code, wire) in [
            (0x0b, 10_011, 0x0b),
            (0x45, 10_069, 0x45),
            (0x0401, 11_025, 0x0401),
            (9_998, 19_998, 9_998),
            (9_999, 19_999, 19_999),
            (u32::MAX, 19_999, 19_999),
        ] {
            let read = ErrCode::of_status(status);
            assert_eq!((read.get(), read.on_the_wire()), (code, wire), "{status:#x}");
        }
        assert_eq!(ErrCode::new(27).on_the_wire(), 27);
    }

    #[test]
    fn every_code_has_words() {
        let unknown = ReportStatus::Final(DlrCode::Undeliv);
        for (code, told, expect) in [
            (27, unknown, "Absent subscriber"),
            (99, unknown, "The carrier's error 99"),
            (10_011, unknown, "The carrier refused it: destination address"),
            (11_025, unknown, "The carrier refused it with status 0x0401"),
            (20_000, unknown, "The carrier gave a code that is not in this table"),
            (0, unknown, "Undeliverable, no reason given"),
            (0, ReportStatus::Enroute, "No error"),
            (0, ReportStatus::Final(DlrCode::Delivrd), "No error"),
            (0, ReportStatus::Final(DlrCode::Rejectd), "Rejected, no reason given"),
            (0, ReportStatus::Final(DlrCode::Expired), "Validity period elapsed"),
            (0, ReportStatus::Final(DlrCode::Unknown), "No receipt from the carrier"),
        ] {
            assert_eq!(ErrCode::new(code).description(told), expect, "{code} {told:?}");
        }
    }

    #[test]
    fn the_table_is_in_order_and_no_word_stands_for_two_codes() {
        assert!(PUBLISHED.windows(2).all(|pair| pair[0].code < pair[1].code));
        let mut words: Vec<&str> = PUBLISHED.iter().flat_map(|row| row.words).copied().collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all, "a word stands twice");
        for row in PUBLISHED {
            for word in row.words {
                assert_eq!(ErrCode::of_word(word).get(), row.code, "{word}");
            }
        }
    }

    #[test]
    fn the_docs_print_the_table() {
        let docs = include_str!("../../../../docs/webhooks.md");
        for PublishedError { code, description, words } in PUBLISHED {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let line = format!("| {code} | {description} | {} |", words.join(" ")).replace("|  |", "| |");
            assert!(docs.contains(&line), "docs/webhooks.md lacks this line:\n{line}");
        }
    }
}
