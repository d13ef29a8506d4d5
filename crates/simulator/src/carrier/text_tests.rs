//! Unit tests of `text.rs`.

use super::*;

#[track_caller]
fn check(data_coding: u8, octets: &[u8], expect: &str) {
    assert_eq!(decode(data_coding, CodingZeroAlphabet::Gsm, octets), expect);
}

#[test]
fn gsm_alphabet_has_128_codes_and_all_decode() {
    assert_eq!(GSM.chars().count(), 128);
    let all: Vec<u8> = (0..128).filter(|&code| code != ESCAPE).collect();
    let expect: String = GSM.chars().filter(|&c| c != '\u{1b}').collect();
    check(0, &all, &expect);
}

#[test]
fn gsm_text_survives_encoding_and_decoding() {
    let text = "@ 5 € [Ä] \\ ñ";
    check(0, &encode_gsm(text).unwrap(), text);
    assert_eq!(encode_gsm("Ж"), None);
}

#[test]
fn gsm_code_zero_is_an_at_sign_and_the_euro_is_escaped() {
    check(0, b"\x00 5 \x1be\x1b<x\x1b>", "@ 5 €[x]");
    check(0, b"a\x1b", "a\u{fffd}");
    check(0, b"a\x1bq\x80", "a\u{fffd}\u{fffd}");
}

#[test]
fn other_data_codings_decode_by_their_alphabet() {
    check(1, b"$_@\xe9", "$_@\u{fffd}");
    check(3, b"caf\xe9", "café");
    check(8, &[0x04, 0x16, 0xd8, 0x3d, 0xde, 0x00], "Ж😀");
    check(8, &[0xd8, 0x3d, 0x00, 0x41, 0x00], "\u{fffd}A\u{fffd}");
    check(4, b"\x00\xff", "00ff");
    assert_eq!(decode(0, CodingZeroAlphabet::Latin1, b"@\xe9"), "@é");
    assert_eq!(decode(0, CodingZeroAlphabet::Ascii, b"@\xe9"), "@\u{fffd}");
}

#[track_caller]
fn check_header(octets: &[u8], part: Option<(u16, u8, u8)>, text: &[u8]) {
    let part = part.map(|(reference, total, sequence)| PartNumber { reference, total, sequence });
    assert_eq!(split_header(true, octets), (part, text));
}

#[test]
fn concatenation_is_found_among_other_elements() {
    check_header(b"\x05\x00\x03\x2a\x02\x01hi", Some((0x2a, 2, 1)), b"hi");
    check_header(b"\x06\x08\x04\x01\x02\x03\x01hi", Some((0x0102, 3, 1)), b"hi");
    check_header(b"\x09\x24\x02\x00\x01\x00\x03\x2a\x02\x02hi", Some((0x2a, 2, 2)), b"hi");
    check_header(b"\x04\x24\x02\x00\x01hi", None, b"hi");
}

#[test]
fn broken_user_data_header_is_treated_as_text() {
    check_header(b"\x20\x00\x03", None, b"\x20\x00\x03");
    check_header(b"", None, b"");
    check_header(b"\x03\x00\x09\x01hi", None, b"hi");
    assert_eq!(
        split_header(false, b"\x05\x00\x03\x2a\x02\x01hi"),
        (None, &b"\x05\x00\x03\x2a\x02\x01hi"[..])
    );
}
