//! Encodes the characters of a part in the carrier's alphabet. The meaning of data_coding 0 differs between carriers.
//! A part with a character outside that alphabet is sent as UCS-2 if it fits, else the character is replaced. A zero
//! octet is `@` in GSM-7 and half a character in UCS-2, never a terminator.

use hermod_domain::carrier::DefaultAlphabet;
use hermod_domain::text::segment::write_octets;
use hermod_domain::text::{Encoding, gsm7, ucs2};

const CODING_DEFAULT: u8 = 0x00;
const CODING_OCTETS: u8 = 0x04;
const CODING_UCS2: u8 = 0x08;
/// With a class: 0001 in the upper half, the alphabet in bits 3 and 2, the class in the rest (3GPP TS 23.038 section
/// 4).
const CODING_WITH_CLASS: u8 = 0x10;
/// Replaces a character that cannot be encoded.
const LOST: u8 = b'?';

/// How the characters were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenText {
    pub(super) data_coding: u8,
    /// Characters that became a question mark.
    pub(super) lost: u64,
}

/// Appends the characters to the body. Returns `None` if they do not fit the encoding they were counted in.
pub(super) fn write(
    characters: &str,
    encoding: Encoding,
    alphabet: DefaultAlphabet,
    ucs2_octets_max: usize,
    body: &mut Vec<u8>,
) -> Option<WrittenText> {
    let octet_of = match (encoding, alphabet) {
        (Encoding::Ucs2, _) => {
            ucs2::encode(characters, body);
            return Some(WrittenText { data_coding: CODING_UCS2, lost: 0 });
        }
        (Encoding::Octets, _) => {
            write_octets(characters, body);
            return Some(WrittenText { data_coding: CODING_OCTETS, lost: 0 });
        }
        (Encoding::Gsm7, DefaultAlphabet::Gsm) => {
            let complete = gsm7::encode(characters, body);
            return complete.then_some(WrittenText { data_coding: CODING_DEFAULT, lost: 0 });
        }
        (Encoding::Gsm7, DefaultAlphabet::Ascii) => ascii,
        (Encoding::Gsm7, DefaultAlphabet::Latin1) => latin1,
    };
    let (before, mut lost) = (body.len(), 0);
    for character in characters.chars() {
        body.push(octet_of(character).unwrap_or_else(|| {
            lost += 1;
            LOST
        }));
    }
    let units = || characters.chars().map(char::len_utf16).sum::<usize>();
    if lost > 0 && 2 * units() <= ucs2_octets_max {
        body.truncate(before);
        ucs2::encode(characters, body);
        return Some(WrittenText { data_coding: CODING_UCS2, lost: 0 });
    }
    Some(WrittenText { data_coding: CODING_DEFAULT, lost })
}

/// Adds the message class to one of our codings. The alphabet bits are the same.
pub(super) const fn with_class(data_coding: u8, class: u8) -> u8 {
    CODING_WITH_CLASS | data_coding | (class & 0b11)
}

fn ascii(character: char) -> Option<u8> {
    u8::try_from(character).ok().filter(u8::is_ascii)
}

fn latin1(character: char) -> Option<u8> {
    u8::try_from(character).ok()
}

#[cfg(test)]
#[path = "alphabet_tests.rs"]
mod tests;
