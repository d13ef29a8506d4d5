//! Matches the message id of a receipt to that of the submit_sm_resp. Ids are stored as the carrier sent them and
//! looked up by a key that ignores the differences carriers introduce: case, leading zeros, and hexadecimal in one and
//! decimal in the other.

use crate::ids::RemoteId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// A carrier's id in capitals and without leading zeros. Ids with the same key are probably the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteKey(SmallVec<[u8; 24]>);

impl RemoteKey {
    pub fn of(id: &RemoteId) -> RemoteKey {
        RemoteKey::of_octets(id.octets())
    }

    fn of_octets(octets: &[u8]) -> RemoteKey {
        let zeros = octets.iter().take_while(|octet| **octet == b'0').count();
        // An id of zeros only keeps one.
        let rest = octets.get(zeros..).filter(|rest| !rest.is_empty()).unwrap_or(b"0");
        RemoteKey(rest.iter().map(u8::to_ascii_uppercase).collect())
    }

    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

/// Prints the key escaped, because it comes from a carrier.
impl fmt::Debug for RemoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteKey({:?})", String::from_utf8_lossy(&self.0))
    }
}

/// The notation of ids in a carrier's responses and receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdConversion {
    /// The same notation.
    #[default]
    None,
    /// Hexadecimal in the response, decimal in the receipt.
    HexToDecimal,
    /// Decimal in the response, hexadecimal in the receipt.
    DecimalToHex,
}

impl IdConversion {
    pub const ALL: [IdConversion; 3] =
        [IdConversion::None, IdConversion::HexToDecimal, IdConversion::DecimalToHex];

    pub const fn as_str(self) -> &'static str {
        match self {
            IdConversion::None => "none",
            IdConversion::HexToDecimal => "hex-to-decimal",
            IdConversion::DecimalToHex => "decimal-to-hex",
        }
    }

    /// Converts the id of a receipt to the key of the response; `None` if there is nothing to convert.
    pub fn key_in_response(self, receipt: &RemoteId) -> Option<RemoteKey> {
        match self {
            IdConversion::None => None,
            IdConversion::HexToDecimal => to_hex(receipt.octets()),
            IdConversion::DecimalToHex => to_decimal(receipt.octets()),
        }
    }

    /// Converts the id of a response to the key of the receipt; `None` if there is nothing to convert.
    pub fn key_in_receipt(self, response: &RemoteId) -> Option<RemoteKey> {
        match self {
            IdConversion::None => None,
            IdConversion::HexToDecimal => to_decimal(response.octets()),
            IdConversion::DecimalToHex => to_hex(response.octets()),
        }
    }
}

/// Numeric ids may exceed 64 bits, but not 128.
fn to_hex(decimal: &[u8]) -> Option<RemoteKey> {
    let number = number(decimal, 10)?;
    Some(RemoteKey::of_octets(format!("{number:X}").as_bytes()))
}

fn to_decimal(hex: &[u8]) -> Option<RemoteKey> {
    let number = number(hex, 16)?;
    Some(RemoteKey::of_octets(number.to_string().as_bytes()))
}

fn number(octets: &[u8], radix: u32) -> Option<u128> {
    let text = std::str::from_utf8(octets).ok()?;
    // `from_str_radix` accepts a sign.
    text.bytes().all(|octet| octet.is_ascii_alphanumeric()).then_some(())?;
    u128::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> RemoteId {
        RemoteId::from_text(text).unwrap()
    }

    /// Whether the ids match, by key or by converted key.
    fn matches(conversion: IdConversion, response: &str, receipt: &str) -> bool {
        let stored = RemoteKey::of(&id(response));
        stored == RemoteKey::of(&id(receipt)) || conversion.key_in_response(&id(receipt)) == Some(stored)
    }

    #[test]
    fn ids_match_in_spite_of_case_zeros_and_notation() {
        for (conversion, response, receipt, expect) in [
            (IdConversion::None, "77", "77", true),
            (IdConversion::None, "0a1B", "0A1B", true),
            (IdConversion::None, "0000077", "77", true),
            (IdConversion::None, "77", "0000077", true),
            (IdConversion::None, "000", "0", true),
            (IdConversion::None, "77", "78", false),
            (IdConversion::None, "1B", "27", false),
            (IdConversion::HexToDecimal, "812FC7470000001B", "9308878062554710043", true),
            (IdConversion::HexToDecimal, "812fc7470000001b", "09308878062554710043", true),
            (IdConversion::HexToDecimal, "1b", "1B", true),
            (IdConversion::HexToDecimal, "1b", "27", true),
            (IdConversion::HexToDecimal, "1b", "28", false),
            (IdConversion::DecimalToHex, "9308878062554710043", "812fc7470000001b", true),
            (IdConversion::DecimalToHex, "27", "1b", true),
            (IdConversion::DecimalToHex, "27", "-1b", false),
            (IdConversion::HexToDecimal, "a3f0c2de-1111", "a3f0c2de-1111", true),
        ] {
            assert_eq!(matches(conversion, response, receipt), expect, "{conversion:?} {response} {receipt}");
        }
    }

    #[test]
    fn non_numeric_id_is_not_converted() {
        for text in ["", "+5", "-5", "0x1b", "g", "ffffffffffffffffffffffffffffffff0", "\u{e9}"] {
            let Ok(id) = RemoteId::from_text(text) else { continue };
            assert_eq!(IdConversion::DecimalToHex.key_in_response(&id), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_directions_of_conversion_agree(number in any::<u128>(), upper in any::<bool>()) {
            let hex = if upper { format!("{number:X}") } else { format!("{number:x}") };
            let (hex, decimal) = (id(&hex), id(&number.to_string()));
            let there = IdConversion::HexToDecimal;
            prop_assert_eq!(there.key_in_response(&decimal), Some(RemoteKey::of(&hex)));
            prop_assert_eq!(there.key_in_receipt(&hex), Some(RemoteKey::of(&decimal)));
            let back = IdConversion::DecimalToHex;
            prop_assert_eq!(back.key_in_response(&hex), Some(RemoteKey::of(&decimal)));
            prop_assert_eq!(back.key_in_receipt(&decimal), Some(RemoteKey::of(&hex)));
        }
    }
}
