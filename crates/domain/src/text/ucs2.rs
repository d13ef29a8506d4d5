//! UCS-2 as networks carry it: UTF-16, big-endian, without a byte order mark. Characters outside the basic plane are
//! surrogate pairs, which every handset with emoji supports.

/// Appends the text's octets, two per unit.
pub fn encode(text: &str, octets: &mut Vec<u8>) {
    for unit in text.encode_utf16() {
        octets.extend(unit.to_be_bytes());
    }
}

/// Why octets are not UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUcs2 {
    #[error("the length of {0} octets is odd")]
    OddLength(usize),
    #[error("a surrogate pair is incomplete")]
    LoneSurrogate,
}

pub fn decode(octets: &[u8]) -> Result<String, NotUcs2> {
    let (units, []) = octets.as_chunks::<2>() else {
        return Err(NotUcs2::OddLength(octets.len()));
    };
    let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
    char::decode_utf16(units).collect::<Result<_, _>>().map_err(|_| NotUcs2::LoneSurrogate)
}

/// Whether the octets are a part of a UTF-16 text that was split at any unit: UTF-16 without half a surrogate pair at
/// the beginning and at the end.
pub fn is_part(octets: &[u8]) -> bool {
    let (units, []) = octets.as_chunks::<2>() else { return false };
    let units = match units {
        [[0xdc..=0xdf, _], rest @ ..] => rest,
        all => all,
    };
    let units = match units {
        [rest @ .., [0xd8..=0xdb, _]] => rest,
        all => all,
    };
    decode(units.as_flattened()).is_ok()
}

#[cfg(test)]
#[path = "ucs2_tests.rs"]
mod tests;
