//! The readings of a message: its text, or for binary data every decoding that a handset or carrier may use.

use super::Piece;
use super::fold::fold;
use crate::text::{Encoding, gsm7, ucs2};

/// Packed septets start at one of seven bits, after the fill bits of a header (3GPP TS 23.040 section 9.2.3.24).
const FILL_BITS_MAX: usize = 6;
/// The decodings of binary data besides Latin-1.
const DECODINGS: usize = 4 + FILL_BITS_MAX + 1;

/// A text as written, and folded.
#[derive(Debug)]
pub(super) struct ScreenedText {
    pub(super) written: String,
    pub(super) looks: String,
}

impl ScreenedText {
    pub(super) fn new(written: String) -> ScreenedText {
        let looks = fold(&written);
        ScreenedText { written, looks }
    }
}

/// Returns every reading of a text, which is one message or neighbouring parts of one. Binary data may be Latin-1 or ASCII (as
/// a [`MessageText`](crate::text::MessageText) holds it), UTF-16 in either byte order, UTF-8, or GSM septets, packed or not. A
/// character may begin in one part and end in the next.
pub(super) fn of(pieces: &[Piece]) -> Vec<ScreenedText> {
    let mut texts = vec![pieces.iter().map(|piece| piece.text.as_str()).collect::<String>()];
    if pieces.iter().any(|piece| piece.encoding == Encoding::Octets) {
        let each: Vec<[Option<String>; DECODINGS]> =
            pieces.iter().map(|piece| decodings(&octets_of(piece))).collect();
        for decoding in 0..DECODINGS {
            let read = pieces.iter().zip(&each).map(|(piece, decoded)| match piece.encoding {
                Encoding::Octets => decoded[decoding].as_deref().unwrap_or(piece.text.as_str()),
                Encoding::Gsm7 | Encoding::Ucs2 => piece.text.as_str(),
            });
            texts.push(read.collect());
        }
        if pieces.len() > 1 {
            let octets: Vec<u8> = pieces.iter().flat_map(octets_of).collect();
            texts.extend(decodings(&octets).into_iter().flatten());
        }
        texts.sort_unstable();
        texts.dedup();
    }
    texts.into_iter().map(ScreenedText::new).collect()
}

fn octets_of(piece: &Piece) -> Vec<u8> {
    let text = piece.text.as_str();
    let mut octets = Vec::with_capacity(text.len());
    match piece.encoding {
        Encoding::Octets => octets.extend(text.chars().filter_map(|octet| u8::try_from(octet).ok())),
        Encoding::Ucs2 => ucs2::encode(text, &mut octets),
        // The text of a part that was read as GSM-7 has no other characters.
        Encoding::Gsm7 => {
            let is_whole = gsm7::encode(text, &mut octets);
            debug_assert!(is_whole, "GSM-7 text with another character");
        }
    }
    octets
}

fn decodings(octets: &[u8]) -> [Option<String>; DECODINGS] {
    std::array::from_fn(|decoding| match decoding {
        0 => Some(utf16(octets, u16::from_be_bytes)),
        1 => Some(utf16(octets, u16::from_le_bytes)),
        2 => String::from_utf8(octets.to_vec()).ok(),
        3 => gsm7::decode(octets).ok(),
        packed => gsm7::decode(&gsm7::unpack(octets, packed - 4)).ok(),
    })
}

/// Decodes UTF-16 without lone surrogates, for which handsets show nothing or a box inside the word.
fn utf16(octets: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = octets.as_chunks::<2>();
    // With one extra octet in front, the other byte order fits, and the last character is one octet short.
    let last = rest.first().map(|octet| [*octet, 0]);
    char::decode_utf16(units.iter().copied().chain(last).map(unit)).filter_map(Result::ok).collect()
}
