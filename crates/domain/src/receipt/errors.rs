//! The table of `err_code` values in DLRs: the description of each code, and the words that carriers send for it. Codes
//! up to 9999 are the networks' own (3GPP TS 29.002). The SMPP status of a rejected submit_sm and words without a
//! number have separate ranges, so that no code has two meanings. docs/webhooks.md prints the table; a test compares
//! them.

use super::{DlrCode, ErrCode, ReportStatus};
use std::borrow::Cow;

/// The largest code that is taken over from a carrier's receipt. Larger ones are carrier-specific.
pub const NETWORK_CODE_MAX: u16 = 9_999;
/// Added to the SMPP status with which a carrier rejected the submit_sm.
pub const STATUS_BASE: u16 = 10_000;
/// The code of every SMPP status that does not fit the range.
const STATUS_OTHER: u16 = 19_999;
/// The code of an unknown word or of a number that is too large.
const WORD_OTHER: u16 = 20_000;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlrError {
    pub code: u16,
    pub description: &'static str,
    /// What carriers write instead of the number, in capitals, with `_` between words.
    pub words: &'static [&'static str],
}

const fn row(code: u16, description: &'static str, words: &'static [&'static str]) -> DlrError {
    DlrError { code, description, words }
}

/// The table, in ascending order of codes.
pub const DLR_ERRORS: [DlrError; 44] = [
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
        "Handset rejected the message",
        &["SM_DELIVERY_FAILURE", "MEMORY_FULL", "MEMORY_CAPACITY_EXCEEDED", "SIM_FULL", "DELIVERY_FAILURE"],
    ),
    row(33, "Message waiting list full", &["MESSAGE_WAITING_LIST_FULL"]),
    row(34, "System failure", &["SYSTEM_FAILURE", "NETWORK_ERROR", "NETWORK_FAILURE", "SYSTEM_ERROR"]),
    row(35, "Data missing", &["DATA_MISSING"]),
    row(36, "Unexpected data value", &["UNEXPECTED_DATA_VALUE"]),
    row(10_001, "Rejected by the carrier: message too long", &[]),
    row(10_008, "Rejected by the carrier: system error", &[]),
    row(10_010, "Rejected by the carrier: invalid source address", &[]),
    row(10_011, "Rejected by the carrier: invalid destination address", &[]),
    row(10_017, "Rejected by the carrier: cancelled", &[]),
    row(10_020, "Rejected by the carrier: queue full", &[]),
    row(10_051, "Rejected by the carrier: invalid number of destinations", &[]),
    row(10_067, "Rejected by the carrier: invalid esm_class", &[]),
    row(10_069, "Rejected by the carrier: submit failed", &[]),
    row(10_072, "Rejected by the carrier: invalid source TON", &[]),
    row(10_073, "Rejected by the carrier: invalid source NPI", &[]),
    row(10_080, "Rejected by the carrier: invalid destination TON", &[]),
    row(10_081, "Rejected by the carrier: invalid destination NPI", &[]),
    row(10_088, "Rejected by the carrier: throttled", &[]),
    row(10_097, "Rejected by the carrier: invalid scheduled time", &[]),
    row(10_098, "Rejected by the carrier: invalid validity period", &[]),
    row(10_255, "Rejected by the carrier: unknown error", &[]),
    row(19_999, "Rejected by the carrier with a vendor status", &[]),
    row(20_000, "Unknown error code from the carrier", &[]),
    row(20_001, "Blocked as unwanted content", &["SPAM", "CONTENT", "FILTERED", "CONTENT_BLOCKED"]),
    row(20_002, "Recipient is on a do-not-disturb or block list", &["DND", "BLACKLIST", "BLACKLISTED"]),
    row(20_003, "Sender not allowed", &["INVALID_SENDER", "SENDER_BLOCKED", "SENDER_NOT_ALLOWED"]),
    row(20_004, "Network timeout", &["TIMEOUT", "NO_RESPONSE", "HLR_TIMEOUT"]),
    row(20_005, "Insufficient credit at the carrier", &["NO_CREDIT", "INSUFFICIENT_CREDIT", "CREDIT"]),
];

impl ErrCode {
    /// Parses the `err` field of a receipt text: a decimal number with any leading zeros, a hexadecimal number after
    /// `0x`, or a word of the table. Anything else gives code 20000.
    pub fn parse(word: &str) -> ErrCode {
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
        let word = table_key(word);
        let plain = word.strip_prefix("EC_").unwrap_or(&word);
        let known = DLR_ERRORS.iter().find(|row| row.words.contains(&plain));
        known.map_or(ErrCode(WORD_OTHER), |row| ErrCode(row.code))
    }

    /// Returns the code for the SMPP status with which a carrier rejected the submit_sm.
    pub fn of_status(status: u32) -> ErrCode {
        let code = u16::try_from(status).ok().and_then(|status| status.checked_add(STATUS_BASE));
        ErrCode(code.filter(|code| *code < STATUS_OTHER).unwrap_or(STATUS_OTHER))
    }

    pub(super) const fn of_network(code: u16) -> ErrCode {
        if code <= NETWORK_CODE_MAX { ErrCode(code) } else { ErrCode(WORD_OTHER) }
    }

    /// Returns the code as SMPP receipts carry it: the carrier's own SMPP status, without the offset.
    pub const fn smpp_code(self) -> u16 {
        match self.0 {
            STATUS_BASE..STATUS_OTHER => self.0 - STATUS_BASE,
            other => other,
        }
    }

    /// Returns the description. Without a code, it follows from the status.
    pub fn description(self, status: ReportStatus) -> Cow<'static, str> {
        if self == ErrCode::NONE {
            return Cow::Borrowed(without_code(status));
        }
        if let Some(row) = DLR_ERRORS.iter().find(|row| row.code == self.0) {
            return Cow::Borrowed(row.description);
        }
        Cow::Owned(match self.0 {
            STATUS_BASE..STATUS_OTHER => {
                format!("Rejected by the carrier with status {:#06x}", self.smpp_code())
            }
            code => format!("Carrier error {code}"),
        })
    }
}

/// Returns the description where the carrier gave no code.
const fn without_code(status: ReportStatus) -> &'static str {
    match status {
        ReportStatus::Enroute
        | ReportStatus::Accepted
        | ReportStatus::Final(DlrCode::Delivrd | DlrCode::Acceptd) => "No error",
        ReportStatus::Final(DlrCode::Undeliv) => "Undeliverable, no reason given",
        ReportStatus::Final(DlrCode::Rejectd) => "Rejected, no reason given",
        ReportStatus::Final(DlrCode::Expired) => "Validity period elapsed",
        ReportStatus::Final(DlrCode::Unknown) => "No receipt from the carrier",
    }
}

/// Returns a carrier's word as the table writes it.
fn table_key(word: &str) -> String {
    let capitals = word.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    capitals.take(super::RAW_WORD_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
