//! SMS parameters that an SMPP customer can set besides the text: a user data header, concatenation, a message class, a
//! protocol identifier, a data_coding. Plain texts have none.

use super::Encoding;
use serde::{Deserialize, Serialize};

/// Octets of user data in one SMS, header included (3GPP TS 23.040 section 9.2.3.16).
pub const PART_OCTETS_MAX: usize = 140;
/// Octets of a concatenation header with an 8-bit reference.
const CONCAT_HEADER_OCTETS: usize = 6;

/// The position of a part in a concatenated message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConcatPart {
    pub reference: u16,
    pub total: u8,
    pub part: u8,
}

/// The parameters by which a message differs from plain text. They are passed on in the format of the carrier's
/// profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SmsOptions {
    /// The customer's user data header as received, with its length octet. Empty if there is none.
    #[serde(with = "crate::octets")]
    pub header: Box<[u8]>,
    /// The concatenation that the customer gave with the three `sar_*` TLVs. Never set together with a header.
    pub concat: Option<ConcatPart>,
    /// The message class; 0 is a flash message.
    pub class: Option<u8>,
    pub protocol_id: u8,
    /// The `data_coding` of binary data; `None` for 8-bit data.
    pub data_coding: Option<u8>,
}

impl SmsOptions {
    /// Whether no option is set.
    pub fn is_plain(&self) -> bool {
        let SmsOptions { header, concat, class, protocol_id, data_coding } = self;
        header.is_empty() && concat.is_none() && class.is_none() && *protocol_id == 0 && data_coding.is_none()
    }

    /// Whether the customer split the message: encoding is one part of a concatenated message and must fit one SMS.
    pub fn is_one_part(&self) -> bool {
        !self.header.is_empty() || self.concat.is_some()
    }

    /// Returns how many units of an encoding fit beside the header.
    pub fn units_max(&self, encoding: Encoding) -> usize {
        let header = if self.concat.is_some() { CONCAT_HEADER_OCTETS } else { self.header.len() };
        let octets = PART_OCTETS_MAX.saturating_sub(header);
        match encoding {
            // The text starts at a septet boundary after the header.
            Encoding::Gsm7 => octets * 8 / 7,
            Encoding::Ucs2 => octets / 2,
            Encoding::Octets => octets,
        }
    }
}

#[cfg(test)]
#[path = "sms_options_tests.rs"]
mod tests;
