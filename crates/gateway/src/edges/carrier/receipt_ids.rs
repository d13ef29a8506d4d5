//! Finds the likely cause of receipts that match no part, from the forms of the ids in responses and in receipts.

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::RemoteId;

/// Ids that must be compared before digits without a letter count as decimal: one hexadecimal id of eight digits in forty has no
/// letter.
const IDS_MIN: usize = 3;

/// Why receipts match no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnmatchedCause {
    /// The ids are written in two forms, which this setting converts.
    Forms(IdConversion),
    /// The forms are alike: the parts of these receipts are unknown here.
    UnknownParts,
    /// There are too few ids to compare.
    Unclear,
}

impl UnmatchedCause {
    /// Returns the cause, given the present setting of the carrier.
    pub(super) fn of(present: IdConversion, responses: &[RemoteId], receipts: &[RemoteId]) -> UnmatchedCause {
        if responses.is_empty() || receipts.is_empty() {
            return UnmatchedCause::Unclear;
        }
        let wanted = match (form_of(responses), form_of(receipts)) {
            (Form::Hexadecimal, Form::Decimal) => IdConversion::HexToDecimal,
            (Form::Decimal, Form::Hexadecimal) => IdConversion::DecimalToHex,
            (Form::Decimal, Form::Decimal)
            | (Form::Hexadecimal, Form::Hexadecimal)
            | (Form::Other, Form::Other) => IdConversion::None,
            (Form::Other, _) | (_, Form::Other) | (Form::Unclear, _) | (_, Form::Unclear) => {
                return UnmatchedCause::Unclear;
            }
        };
        if wanted == present { UnmatchedCause::UnknownParts } else { UnmatchedCause::Forms(wanted) }
    }

    /// Returns what to do, for the alarm.
    pub(super) fn advice(self) -> String {
        match self {
            UnmatchedCause::Forms(ids) => format!("the forms differ: set ids = \"{}\"", ids.as_str()),
            UnmatchedCause::UnknownParts => {
                "the forms are alike, so another setting of ids does not help: look for a second gateway with the same system_id"
                    .to_owned()
            }
            UnmatchedCause::Unclear => {
                "either the forms differ (set ids), or a second gateway has the same system_id".to_owned()
            }
        }
    }
}

/// How ids are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Decimal,
    Hexadecimal,
    /// Not as a number.
    Other,
    /// Digits only, but too few ids to exclude letters.
    Unclear,
}

fn form_of(ids: &[RemoteId]) -> Form {
    let all = |is_digit: fn(&u8) -> bool| ids.iter().all(|id| id.octets().iter().all(is_digit));
    if all(u8::is_ascii_digit) {
        if ids.len() >= IDS_MIN { Form::Decimal } else { Form::Unclear }
    } else if all(u8::is_ascii_hexdigit) {
        Form::Hexadecimal
    } else {
        Form::Other
    }
}

#[cfg(test)]
#[path = "receipt_ids_tests.rs"]
mod tests;
