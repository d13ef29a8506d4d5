//! What a message may read as: one text, or for binary data every decoding that a handset or carrier may choose.

use super::fold::fold;
use crate::text::{Encoding, MessageText, gsm7};

/// A text as written, and as it looks.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) written: String,
    pub(super) looks: String,
}

impl Reading {
    pub(super) fn new(written: String) -> Reading {
        let looks = fold(&written);
        Reading { written, looks }
    }
}

/// Every reading of a text. Binary data may be Latin-1 or ASCII (which is how a [`MessageText`] holds it), UTF-16 in either
/// byte order, UTF-8, or GSM septets one to an octet.
pub(super) fn of(text: &MessageText, encoding: Encoding) -> Vec<Reading> {
    let mut texts = vec![text.as_str().to_owned()];
    if encoding == Encoding::Octets {
        let octets: Vec<u8> = text.as_str().chars().filter_map(|octet| u8::try_from(octet).ok()).collect();
        texts.push(utf16(&octets, u16::from_be_bytes));
        texts.push(utf16(&octets, u16::from_le_bytes));
        texts.extend(String::from_utf8(octets.clone()).ok().filter(|text| !text.is_ascii()));
        texts.extend(gsm7::decode(&octets).ok().filter(|text| text != &texts[0]));
    }
    texts.into_iter().map(Reading::new).collect()
}

/// Halves of surrogate pairs are left out: a handset shows nothing for them, or a box inside the word.
fn utf16(octets: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = octets.as_chunks::<2>();
    // One octet too many in front turns one byte order into the other, and leaves half of the last character here.
    let last = rest.first().map(|octet| [*octet, 0]);
    char::decode_utf16(units.iter().copied().chain(last).map(unit)).filter_map(Result::ok).collect()
}
