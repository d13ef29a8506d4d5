//! Decodes the ISO 8859 alphabets that `data_coding` names.

/// Decodes ISO 8859-1, where every octet is the code point of its character.
pub fn latin1(octets: &[u8]) -> String {
    octets.iter().copied().map(char::from).collect()
}

/// Decodes an octet of ISO 8859-5.
pub fn cyrillic(octet: u8) -> Option<char> {
    match octet {
        0x00..=0xA0 | 0xAD => Some(char::from(octet)),
        0xF0 => Some('\u{2116}'),
        0xFD => Some('\u{A7}'),
        0xA1..=0xFF => char::from_u32(0x401 + u32::from(octet - 0xA1)),
    }
}

/// Decodes an octet of ISO 8859-8; `None` where the alphabet has no character.
pub fn hebrew(octet: u8) -> Option<char> {
    match octet {
        0xAA => Some('\u{D7}'),
        0xBA => Some('\u{F7}'),
        0xDF => Some('\u{2017}'),
        0xE0..=0xFA => char::from_u32(0x5D0 + u32::from(octet - 0xE0)),
        0xFD => Some('\u{200E}'),
        0xFE => Some('\u{200F}'),
        0x00..=0xA0 | 0xA2..=0xBE => Some(char::from(octet)),
        0xA1 | 0xBF..=0xDE | 0xFB | 0xFC | 0xFF => None,
    }
}
