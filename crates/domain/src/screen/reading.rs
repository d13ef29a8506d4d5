//! The readings of a message: its text, or for binary data every decoding that a handset or carrier may use.

use super::fold::fold;
use crate::text::{Encoding, MessageText, gsm7};

/// A text as written, and folded.
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

/// Returns every reading of a text. Binary data may be Latin-1 or ASCII (as a [`MessageText`] holds it), UTF-16 in
/// either byte order, UTF-8, or unpacked GSM septets.
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

/// Decodes UTF-16 without lone surrogates, for which handsets show nothing or a box inside the word.
fn utf16(octets: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = octets.as_chunks::<2>();
    // With one extra octet in front, the other byte order fits, and the last character is one octet short.
    let last = rest.first().map(|octet| [*octet, 0]);
    char::decode_utf16(units.iter().copied().chain(last).map(unit)).filter_map(Result::ok).collect()
}
