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
mod tests {
    use super::*;

    #[track_caller]
    fn check(octets: &[u8], expect: Result<&str, NotUcs2>) {
        let decoded = decode(octets);
        assert_eq!(decoded.as_deref(), expect.as_ref().map(|text| *text), "{octets:02x?}");
        if let Ok(text) = expect {
            let mut back = Vec::new();
            encode(text, &mut back);
            assert_eq!(back, octets);
        }
    }

    #[test]
    fn text_is_encoded_and_decoded() {
        check(&[], Ok(""));
        check(&[0x00, 0x41], Ok("A"));
        check(&[0x20, 0xac, 0x04, 0x16], Ok("€Ж"));
        check(&[0xd8, 0x3d, 0xde, 0x00], Ok("😀"));
        check(&[0xfe, 0xff, 0x00, 0x41], Ok("\u{feff}A"));
    }

    #[test]
    fn odd_length_and_lone_surrogates_are_refused() {
        check(&[0x00], Err(NotUcs2::OddLength(1)));
        check(&[0xd8, 0x3d], Err(NotUcs2::LoneSurrogate));
        check(&[0xde, 0x00, 0xd8, 0x3d], Err(NotUcs2::LoneSurrogate));
        check(&[0xd8, 0x3d, 0x00, 0x41], Err(NotUcs2::LoneSurrogate));
    }

    #[test]
    fn part_may_begin_and_end_within_a_surrogate_pair() {
        for (octets, expect) in [
            (&[][..], true),
            (&[0xde, 0x00, 0x00, 0x41, 0xd8, 0x3d], true),
            (&[0xde, 0x00], true),
            (&[0xd8, 0x3d], true),
            (&[0xde, 0x00, 0xde, 0x00], false),
            (&[0xd8, 0x3d, 0x00, 0x41], false),
            (&[0x00, 0x41, 0xde, 0x00], false),
            (&[0x00], false),
        ] {
            assert_eq!(is_part(octets), expect, "{octets:02x?}");
        }
    }
}
