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

named! {
    /// The notation of ids in a carrier's responses and receipts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum IdConversion {
        /// The same notation.
        #[default]
        None = "none",
        /// Hexadecimal in the response, decimal in the receipt.
        HexToDecimal = "hex-to-decimal",
        /// Decimal in the response, hexadecimal in the receipt.
        DecimalToHex = "decimal-to-hex",
    }
}

impl IdConversion {
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
#[path = "ids_tests.rs"]
mod tests;
