//! The GSM 7-bit default alphabet with its extension table (3GPP TS 23.038, sections 6.2.1 and 6.2.1.1), unpacked: one
//! septet per octet, as SMPP carries it. `@` is octet zero, so a zero is no terminator.

const ESCAPE: u8 = 0x1b;

/// The default alphabet, by septet. The entry of the escape is the space that handsets show for an unknown escape
/// sequence.
#[rustfmt::skip]
const BASIC: [char; 128] = [
    '@', '£', '$', '¥', 'è', 'é', 'ù', 'ì', 'ò', 'Ç', '\n', 'Ø', 'ø', '\r', 'Å', 'å',
    'Δ', '_', 'Φ', 'Γ', 'Λ', 'Ω', 'Π', 'Ψ', 'Σ', 'Θ', 'Ξ', ' ', 'Æ', 'æ', 'ß', 'É',
    ' ', '!', '"', '#', '¤', '%', '&', '\'', '(', ')', '*', '+', ',', '-', '.', '/',
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ':', ';', '<', '=', '>', '?',
    '¡', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O',
    'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'Ä', 'Ö', 'Ñ', 'Ü', '§',
    '¿', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 'ä', 'ö', 'ñ', 'ü', 'à',
];

/// The extension table: the character of a septet after an escape.
#[rustfmt::skip]
const EXTENSION: [(u8, char); 10] = [
    (0x0a, '\u{c}'), (0x14, '^'), (0x28, '{'), (0x29, '}'), (0x2f, '\\'),
    (0x3c, '['), (0x3d, '~'), (0x3e, ']'), (0x40, '|'), (0x65, '€'),
];

/// The GSM-7 code of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gsm7Code {
    /// One septet.
    Basic(u8),
    /// An escape and one more septet, which are never separated.
    Extended(u8),
}

impl Gsm7Code {
    pub const fn septets(self) -> usize {
        match self {
            Gsm7Code::Basic(_) => 1,
            Gsm7Code::Extended(_) => 2,
        }
    }
}

/// The codes of the ASCII characters, as a table because nearly all texts are ASCII.
#[expect(clippy::as_conversions, reason = "the conversion traits cannot be called in a constant")]
const ASCII: [Option<Gsm7Code>; 128] = {
    let mut codes = [None; 128];
    let mut septet = 0_u8;
    while septet < 128 {
        let character = BASIC[septet as usize];
        if character.is_ascii() && septet != ESCAPE {
            codes[character as usize] = Some(Gsm7Code::Basic(septet));
        }
        septet += 1;
    }
    let mut index = 0;
    while index < EXTENSION.len() {
        let (septet, character) = EXTENSION[index];
        if character.is_ascii() {
            codes[character as usize] = Some(Gsm7Code::Extended(septet));
        }
        index += 1;
    }
    codes
};

/// Returns the code of a character; `None` if the alphabet lacks it.
#[inline]
pub fn code(character: char) -> Option<Gsm7Code> {
    match u8::try_from(character).ok().and_then(|octet| ASCII.get(usize::from(octet))) {
        Some(code) => *code,
        None => code_beyond_ascii(character),
    }
}

fn code_beyond_ascii(character: char) -> Option<Gsm7Code> {
    let basic = match character {
        '£' => 0x01,
        '¥' => 0x03,
        'è' => 0x04,
        'é' => 0x05,
        'ù' => 0x06,
        'ì' => 0x07,
        'ò' => 0x08,
        'Ç' => 0x09,
        'Ø' => 0x0b,
        'ø' => 0x0c,
        'Å' => 0x0e,
        'å' => 0x0f,
        'Δ' => 0x10,
        'Φ' => 0x12,
        'Γ' => 0x13,
        'Λ' => 0x14,
        'Ω' => 0x15,
        'Π' => 0x16,
        'Ψ' => 0x17,
        'Σ' => 0x18,
        'Θ' => 0x19,
        'Ξ' => 0x1a,
        'Æ' => 0x1c,
        'æ' => 0x1d,
        'ß' => 0x1e,
        'É' => 0x1f,
        '¤' => 0x24,
        '¡' => 0x40,
        'Ä' => 0x5b,
        'Ö' => 0x5c,
        'Ñ' => 0x5d,
        'Ü' => 0x5e,
        '§' => 0x5f,
        '¿' => 0x60,
        'ä' => 0x7b,
        'ö' => 0x7c,
        'ñ' => 0x7d,
        'ü' => 0x7e,
        'à' => 0x7f,
        '€' => return Some(Gsm7Code::Extended(0x65)),
        _ => return None,
    };
    Some(Gsm7Code::Basic(basic))
}

/// Appends the text's septets. Returns false at the first character that is not in the alphabet; the characters before
/// it have been appended.
#[must_use]
pub fn encode(text: &str, septets: &mut Vec<u8>) -> bool {
    for character in text.chars() {
        match code(character) {
            Some(Gsm7Code::Basic(septet)) => septets.push(septet),
            Some(Gsm7Code::Extended(septet)) => septets.extend([ESCAPE, septet]),
            None => return false,
        }
    }
    true
}

/// The octet at this position has its top bit set, so this is not GSM 7-bit text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("octet {at} is not a septet")]
pub struct NotSeptet {
    pub at: usize,
}

/// Decodes septets as a handset does. Unknown escape sequences follow TS 23.038 section 6.2.1.1: a septet that the
/// extension table lacks is read from the default alphabet, and a second escape is a space.
pub fn decode(octets: &[u8]) -> Result<String, NotSeptet> {
    let mut text = String::with_capacity(octets.len());
    let mut escaped = false;
    for (at, octet) in octets.iter().enumerate() {
        let basic = *BASIC.get(usize::from(*octet)).ok_or(NotSeptet { at })?;
        match (escaped, *octet) {
            (false, ESCAPE) => escaped = true,
            (false, _) => text.push(basic),
            (true, septet) => {
                text.push(extension(septet).unwrap_or(basic));
                escaped = false;
            }
        }
    }
    if escaped {
        text.push(' ');
    }
    Ok(text)
}

/// Unpacks septets that were packed into octets, the lowest bits first, after `fill_bits` unused bits (TS 23.038 section
/// 6.1.2.1).
pub fn unpack(octets: &[u8], fill_bits: usize) -> Vec<u8> {
    let bit = |at: usize| octets[at / 8] >> (at % 8) & 1;
    let first_bits = (fill_bits..).step_by(7).take_while(|first| first + 7 <= octets.len() * 8);
    first_bits.map(|first| (0..7).fold(0, |septet, place| septet | bit(first + place) << place)).collect()
}

fn extension(septet: u8) -> Option<char> {
    EXTENSION.iter().find(|(code, _)| *code == septet).map(|(_, character)| *character)
}

#[cfg(test)]
#[path = "gsm7_tests.rs"]
mod tests;
