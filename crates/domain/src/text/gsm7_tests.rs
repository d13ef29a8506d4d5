//! Unit tests of `gsm7.rs`.

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let mut septets = Vec::new();
    assert!(encode(text, &mut septets), "{text:?}");
    let hex: Vec<String> = septets.iter().map(|septet| format!("{septet:02x}")).collect();
    assert_eq!(hex.join(" "), expect, "{text:?}");
    assert_eq!(decode(&septets).unwrap(), text);
}

#[test]
fn text_is_encoded_and_decoded() {
    check("Hello @ $5", "48 65 6c 6c 6f 20 00 20 02 35");
    check("@@", "00 00");
    check("Ärger_ÜBER", "5b 72 67 65 72 11 5e 42 45 52");
    check("ΔΦΓΛΩΠΨΣΘΞ", "10 12 13 14 15 16 17 18 19 1a");
    check("\r\n", "0d 0a");
    check("€[x]", "1b 65 1b 3c 78 1b 3e");
    check("^{}\\~|\u{c}", "1b 14 1b 28 1b 29 1b 2f 1b 3d 1b 40 1b 0a");
}

#[test]
fn every_unicode_character_round_trips_or_has_no_code() {
    let (mut basic, mut extended) = (0, 0);
    for character in '\0'..=char::MAX {
        match code(character) {
            Some(Gsm7Code::Basic(septet)) => {
                assert_eq!(decode(&[septet]).unwrap(), character.to_string());
                basic += 1;
            }
            Some(Gsm7Code::Extended(septet)) => {
                assert_eq!(decode(&[ESCAPE, septet]).unwrap(), character.to_string());
                extended += 1;
            }
            None => {}
        }
    }
    // All septets but the escape; all ten characters of the extension table.
    assert_eq!((basic, extended), (127, 10));
}

#[test]
fn look_alike_characters_have_no_code() {
    for character in ['`', '\t', 'ç', 'á', '’', '–', '\u{1b}', '\0', '\u{7f}', 'Α', '\u{a0}'] {
        assert_eq!(code(character), None, "{character:?}");
    }
}

#[test]
fn unknown_escape_sequences_decode_as_the_standard_says() {
    for (octets, expect) in [
        (&[0x1b, 0x41][..], "A"),
        (&[0x1b, 0x1b, 0x41], " A"),
        (&[0x41, 0x1b], "A "),
        (&[0x1b, 0x0d], "\r"),
        (&[], ""),
    ] {
        assert_eq!(decode(octets).unwrap(), expect, "{octets:02x?}");
    }
    assert_eq!(decode(&[0x41, 0x80]), Err(NotSeptet { at: 1 }));
    assert_eq!(decode(&[0x1b, 0xff]), Err(NotSeptet { at: 1 }));
}

#[test]
fn packed_septets_are_unpacked_after_their_fill_bits() {
    // "hello" of TS 23.038, and with one fill bit after a header of six octets.
    assert_eq!(unpack(&[0xe8, 0x32, 0x9b, 0xfd, 0x06], 0), b"hello");
    assert_eq!(unpack(&[0xd0, 0x65, 0x36, 0xfb, 0x0d], 1), b"hello");
    assert_eq!((unpack(&[], 3), unpack(&[0xff], 0)), (vec![], vec![0x7f]));
}

#[test]
fn encoding_stops_at_a_character_outside_the_alphabet() {
    let mut septets = Vec::new();
    assert!(!encode("ab`cd", &mut septets));
    assert_eq!(septets, b"ab");
}
