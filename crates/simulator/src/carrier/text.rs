//! Decodes the text of a submit_sm: the user data header for concatenation, and the octets by their data coding. This is
//! deliberately not the gateway's code: an error in a shared table would not be found.

use serde::Deserialize;

/// The concatenation fields of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartNumber {
    pub reference: u16,
    pub total: u8,
    pub sequence: u8,
}

/// The alphabet of data_coding 0, which is each carrier's own choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodingZeroAlphabet {
    #[default]
    Gsm,
    Ascii,
    Latin1,
}

/// GSM 03.38 basic characters by code (3GPP TS 23.038 §6.2.1). Code 0x1B, the escape, is U+001B here.
const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1b}ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
                   ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const ESCAPE: u8 = 0x1b;
/// UDH element identifiers (3GPP TS 23.040 §9.2.3.24.1 and .8): concatenation with 8 and 16 bit references.
const CONCATENATED_8: u8 = 0x00;
const CONCATENATED_16: u8 = 0x08;

/// Decodes octets by their data coding (SMPP v3.4 §5.2.19). Undefined codes become U+FFFD and binary becomes hex, so that
/// a wrong coding is visible in a test.
pub(super) fn decode(data_coding: u8, coding_zero: CodingZeroAlphabet, octets: &[u8]) -> String {
    match (data_coding, coding_zero) {
        (0x00, CodingZeroAlphabet::Gsm) => gsm(octets),
        (0x01, _) | (0x00, CodingZeroAlphabet::Ascii) => octets.iter().map(|&b| ascii(b)).collect(),
        (0x03, _) | (0x00, CodingZeroAlphabet::Latin1) => octets.iter().map(|&b| char::from(b)).collect(),
        (0x08, _) => utf16(octets),
        _ => octets.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn ascii(octet: u8) -> char {
    if octet.is_ascii() { char::from(octet) } else { '\u{fffd}' }
}

fn gsm(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    let mut octets = octets.iter().copied();
    while let Some(code) = octets.next() {
        let character = match code {
            ESCAPE => octets.next().and_then(gsm_extension),
            // Most characters have the same code in ASCII.
            b' '..=b'#' | b'%'..=b'?' | b'A'..=b'Z' | b'a'..=b'z' => Some(char::from(code)),
            _ => GSM.chars().nth(usize::from(code)),
        };
        text.push(character.unwrap_or('\u{fffd}'));
    }
    text
}

fn gsm_extension(code: u8) -> Option<char> {
    Some(match code {
        0x0a => '\u{c}',
        0x14 => '^',
        0x28 => '{',
        0x29 => '}',
        0x2f => '\\',
        0x3c => '[',
        0x3d => '~',
        0x3e => ']',
        0x40 => '|',
        0x65 => '€',
        _ => return None,
    })
}

/// Encodes a text in GSM 03.38, one octet per septet; none when a character is not in the alphabet.
pub(super) fn encode_gsm(text: &str) -> Option<Vec<u8>> {
    let mut octets = Vec::with_capacity(text.len());
    for character in text.chars() {
        let basic = GSM.chars().position(|c| c == character && c != '\u{1b}');
        if let Some(code) = basic {
            octets.push(u8::try_from(code).expect("128 codes"));
        } else {
            let code = (0..=0x7f).find(|code| gsm_extension(*code) == Some(character))?;
            octets.extend([ESCAPE, code]);
        }
    }
    Some(octets)
}

fn utf16(octets: &[u8]) -> String {
    let units = octets.chunks(2).map(|pair| match *pair {
        [high, low] => u16::from_be_bytes([high, low]),
        // An odd octet at the end.
        _ => 0xfffd,
    });
    char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')).collect()
}

/// Splits off the user data header and reads its concatenation element. A header longer than the octets is treated as
/// text.
pub(super) fn split_header(has_header: bool, octets: &[u8]) -> (Option<PartNumber>, &[u8]) {
    let Some((&length, rest)) = octets.split_first().filter(|_| has_header) else { return (None, octets) };
    let Some((elements, text)) = rest.split_at_checked(usize::from(length)) else { return (None, octets) };
    (concatenation(elements), text)
}

fn concatenation(mut elements: &[u8]) -> Option<PartNumber> {
    while let [kind, length, rest @ ..] = elements {
        let (value, others) = rest.split_at_checked(usize::from(*length))?;
        match (*kind, value) {
            (CONCATENATED_8, [reference, total, sequence]) => {
                return Some(PartNumber {
                    reference: u16::from(*reference),
                    total: *total,
                    sequence: *sequence,
                });
            }
            (CONCATENATED_16, [high, low, total, sequence]) => {
                let reference = u16::from_be_bytes([*high, *low]);
                return Some(PartNumber { reference, total: *total, sequence: *sequence });
            }
            _ => elements = others,
        }
    }
    None
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
