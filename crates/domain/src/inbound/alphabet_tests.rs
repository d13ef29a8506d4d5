//! Unit tests of `alphabet.rs`.

use super::*;
use Alphabet::*;

#[test]
fn every_data_coding_has_an_alphabet() {
    for (codings, expect) in [
        (&[0x00, 0x10, 0x13, 0xC0, 0xDF, 0xF0, 0xF3, 0xF8][..], Gsm),
        (&[0x01], Ascii),
        (&[0x03], Latin1),
        (&[0x06], Cyrillic),
        (&[0x07], Hebrew),
        (&[0x08, 0x18, 0x1B, 0xE0, 0xEF], Ucs2),
        (&[0x02, 0x04, 0x05, 0x09, 0x0A, 0x0E, 0x14, 0x1C, 0x20, 0x80, 0xBF, 0xF4, 0xF5, 0xFF], Octets),
    ] {
        for coding in codings {
            assert_eq!(Alphabet::of_data_coding(*coding, DefaultAlphabet::Gsm), expect, "{coding:#04x}");
        }
    }
    assert_eq!(Alphabet::of_data_coding(0, DefaultAlphabet::Latin1), Latin1);
    assert_eq!(Alphabet::of_data_coding(0, DefaultAlphabet::Ascii), Ascii);
    assert_eq!(Alphabet::of_data_coding(0x10, DefaultAlphabet::Latin1), Gsm, "a class is GSM's own");
}

#[test]
fn octets_are_decoded_in_every_alphabet() {
    let cases: [(Alphabet, &[u8], Option<&str>); 16] = [
        (Gsm, b"\x00 \x1b\x65 \x7c", Some("@ € ö")),
        (Gsm, b"a\x80", None),
        (Ascii, b"@$_[]", Some("@$_[]")),
        (Ascii, b"a\xe9", None),
        (Latin1, b"\xe9t\xe9 @", Some("été @")),
        (Cyrillic, b"\xb6\xd0", Some("Жа")),
        (Hebrew, b"\xf9\xec", Some("של")),
        (Hebrew, b"\xa1", None),
        (Ucs2, b"\x04\x16\xd8\x3d\xde\x00", Some("Ж😀")),
        (Ucs2, b"\xd8\x3d", Some("\u{fffd}")),
        (Ucs2, b"\x00a\xde\x00\x00b", Some("a\u{fffd}b")),
        (Ucs2, b"\x00", None),
        (Octets, b"abc", None),
        (Gsm, b"", Some("")),
        (Ucs2, b"", Some("")),
        (Gsm, b"end\x1b", Some("end ")),
    ];
    for (alphabet, octets, expect) in cases {
        assert_eq!(alphabet.decode(octets).as_deref(), expect, "{alphabet:?} {octets:02x?}");
    }
}

#[test]
fn stored_numbers_round_trip() {
    for stored in 0..=u8::MAX {
        if let Some(alphabet) = Alphabet::from_u8(stored) {
            assert_eq!(alphabet.as_u8(), stored);
        }
    }
    assert_eq!((1..=7).filter_map(Alphabet::from_u8).count(), 7);
    assert_eq!(Alphabet::from_u8(0), None);
}
