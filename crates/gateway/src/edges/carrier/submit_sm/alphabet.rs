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
mod tests {
    use super::*;

    /// Compares `coding:octets`, and the count of lost characters if there are any.
    #[track_caller]
    fn check(alphabet: DefaultAlphabet, ucs2_octets_max: usize, characters: &str, expect: &str) {
        let mut body = vec![0xEE];
        let encoding = Encoding::choose(characters);
        let WrittenText { data_coding, lost } =
            write(characters, encoding, alphabet, ucs2_octets_max, &mut body).unwrap();
        assert_eq!(body.remove(0), 0xEE, "what stood in front stays");
        let octets: String = body.iter().map(|octet| format!("{octet:02x}")).collect();
        let lost = if lost > 0 { format!(" lost {lost}") } else { String::new() };
        assert_eq!(format!("{data_coding}:{octets}{lost}"), expect, "{characters:?} in {alphabet:?}");
    }

    #[test]
    fn message_class_is_added_in_every_alphabet() {
        let codings = [
            (CODING_DEFAULT, 0),
            (CODING_DEFAULT, 1),
            (CODING_OCTETS, 0),
            (CODING_UCS2, 0),
            (CODING_UCS2, 3),
        ];
        let actual = codings.map(|(coding, class)| with_class(coding, class));
        assert_eq!(actual, [0x10, 0x11, 0x14, 0x18, 0x1B]);
    }

    #[test]
    fn octets_are_written_as_they_are() {
        let mut body = Vec::new();
        let written = write("\u{0}\u{1b}\u{ff}", Encoding::Octets, DefaultAlphabet::Latin1, 140, &mut body);
        assert_eq!((written, body), (Some(WrittenText { data_coding: 4, lost: 0 }), vec![0, 0x1B, 0xFF]));
    }

    #[test]
    fn characters_are_encoded_in_the_default_alphabet_or_ucs2() {
        use DefaultAlphabet::{Ascii, Gsm, Latin1};
        for (alphabet, characters, expect) in [
            (Gsm, "a@b", "0:610062"),
            (Gsm, "@", "0:00"),
            (Gsm, "€[", "0:1b651b3c"),
            (Gsm, "я@", "8:044f0040"),
            (Ascii, "a@b", "0:614062"),
            (Ascii, "[{|}]~^\\_$\n", "0:5b7b7c7d5d7e5e5c5f240a"),
            (Ascii, "é", "8:00e9"),
            (Ascii, "a€", "8:006120ac"),
            (Ascii, "😀", "8:d83dde00"),
            (Latin1, "a@é¡ß", "0:6140e9a1df"),
            (Latin1, "£¥¤§¿", "0:a3a5a4a7bf"),
            (Latin1, "a€", "8:006120ac"),
            (Latin1, "ΔΩ", "8:039403a9"),
            (Latin1, "я", "8:044f"),
        ] {
            check(alphabet, 140, characters, expect);
        }
    }

    #[test]
    fn character_is_lost_only_if_ucs2_does_not_fit() {
        check(DefaultAlphabet::Ascii, 6, "aé€", "8:006100e920ac");
        check(DefaultAlphabet::Ascii, 5, "aé€", "0:613f3f lost 2");
        check(DefaultAlphabet::Latin1, 5, "aé€", "0:61e93f lost 1");
        // Without a missing character UCS-2 is not considered.
        check(DefaultAlphabet::Latin1, 0, "aé", "0:61e9");
        check(
            DefaultAlphabet::Ascii,
            140,
            &("a".repeat(69) + "é"),
            &("8:".to_owned() + &"0061".repeat(69) + "00e9"),
        );
        check(
            DefaultAlphabet::Ascii,
            140,
            &("a".repeat(70) + "é"),
            &("0:".to_owned() + &"61".repeat(70) + "3f lost 1"),
        );
        check(
            DefaultAlphabet::Ascii,
            usize::MAX,
            &("é".repeat(160)),
            &("8:".to_owned() + &"00e9".repeat(160)),
        );
    }

    #[test]
    fn character_outside_the_counted_encoding_returns_none() {
        assert_eq!(write("я", Encoding::Gsm7, DefaultAlphabet::Gsm, 140, &mut Vec::new()), None);
    }
}
