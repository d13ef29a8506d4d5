//! Tests of every data_coding, and of every alphabet at its limits.

use super::*;

fn access() -> SmppAccess {
    SmppAccess::new("shop", "")
}

fn actual(data_coding: u8, access: &SmppAccess) -> String {
    match Coding::of(data_coding, access) {
        Err(status) => format!("{:#x}", status.0),
        Ok(Coding { alphabet, class, is_special }) => {
            let class = class.map(|class| format!(" class {class}")).unwrap_or_default();
            format!("{alphabet:?}{class}{}", if is_special { " special" } else { "" })
        }
    }
}

#[test]
fn every_data_coding_is_decoded_or_rejected() {
    let waiting = SmppAccess { message_waiting: true, ..access() };
    let cases = [
        (0x00, "Default"),
        (0x01, "Ascii"),
        (0x02, "Octets"),
        (0x03, "Latin1"),
        (0x04, "Octets"),
        (0x05, "0x45"),
        (0x06, "Cyrillic"),
        (0x07, "Hebrew"),
        (0x08, "Ucs2"),
        (0x09, "0x45"),
        (0x0A, "0x45"),
        (0x0D, "0x45"),
        (0x0F, "0x45"),
        (0x10, "Gsm class 0"),
        (0x13, "Gsm class 3"),
        (0x14, "Octets class 0"),
        (0x18, "Ucs2 class 0"),
        (0x1C, "0x45"),
        (0x20, "0x45"),
        (0xBF, "0x45"),
        (0xC0, "0x45"),
        (0xDF, "0x45"),
        (0xE0, "0x45"),
        (0xF0, "Gsm class 0"),
        (0xF1, "Gsm class 1"),
        (0xF4, "Octets class 0"),
        (0xFF, "Octets class 3"),
    ];
    for (data_coding, expect) in cases {
        assert_eq!(actual(data_coding, &access()), expect, "{data_coding:#x}");
    }
    assert_eq!(
        [0xC0, 0xDF, 0xE0].map(|coding| actual(coding, &waiting)),
        ["Gsm special", "Gsm special", "0x45"]
    );
}

/// Compares text, encoding if it is fixed, and `!` if the octets are passed through.
#[track_caller]
fn check(octets: &[u8], alphabet: SubmitAlphabet, access: &SmppAccess, extent: Extent, expect: &str) {
    let shown = match read(octets, alphabet, access, extent) {
        Err(status) => format!("{:#x}", status.0),
        Ok(DecodedText { text, encoding, is_untouched }) => {
            let encoding = encoding.map_or("", Encoding::as_str);
            format!("{}|{encoding}{}", text.as_str().escape_default(), if is_untouched { "!" } else { "" })
        }
    };
    assert_eq!(shown, expect, "{octets:02x?} {alphabet:?}");
}

#[test]
fn text_is_decoded_in_every_alphabet() {
    let plain = access();
    for (octets, alphabet, expect) in [
        (&b"hi \x00 \x1b\x65"[..], SubmitAlphabet::Default, "hi @ \\u{20ac}|gsm7"),
        (b"\x80", SubmitAlphabet::Default, "0x45"),
        (b"a@[", SubmitAlphabet::Ascii, "a@[|"),
        (b"\xe9", SubmitAlphabet::Ascii, "0x45"),
        (b"\xe9", SubmitAlphabet::Latin1, "\\u{e9}|"),
        (b"\xbf\xf0\xfd\xa1\xad", SubmitAlphabet::Cyrillic, "\\u{41f}\\u{2116}\\u{a7}\\u{401}\\u{ad}|"),
        (b"\xe0\xfa", SubmitAlphabet::Hebrew, "\\u{5d0}\\u{5ea}|"),
        (b"\xa1", SubmitAlphabet::Hebrew, "0x45"),
        (b"\x04\x16\xd8\x3d\xde\x00", SubmitAlphabet::Ucs2, "\\u{416}\\u{1f600}|ucs2"),
        (b"\x04", SubmitAlphabet::Ucs2, "0x1"),
        (b"\xd8\x3d", SubmitAlphabet::Ucs2, "0x45"),
        (b"\x00a\xde\x00\x00b", SubmitAlphabet::Ucs2, "0x45"),
        (b"\x00\xff", SubmitAlphabet::Octets, "\\u{0}\\u{ff}|binary"),
        (b"", SubmitAlphabet::Default, "0x1"),
        (&[b'a'; 1601], SubmitAlphabet::Default, "0x1"),
    ] {
        check(octets, alphabet, &plain, Extent::Whole, expect);
    }
    let halves: Vec<u8> = [0xd8, 0x3d].repeat(71);
    check(&halves, SubmitAlphabet::Ucs2, &plain, Extent::Whole, "0x45");
}

#[test]
fn data_coding_0_is_the_connections_alphabet() {
    let speaking = |alphabet| SmppAccess { alphabet, ..access() };
    check(b"a@", SubmitAlphabet::Default, &speaking(CodingZero::Ascii), Extent::Whole, "a@|");
    check(b"\xe9", SubmitAlphabet::Default, &speaking(CodingZero::Ascii), Extent::Whole, "0x45");
    check(b"\xe9@", SubmitAlphabet::Default, &speaking(CodingZero::Latin1), Extent::Whole, "\\u{e9}@|");
    check(
        "é€".as_bytes(),
        SubmitAlphabet::Default,
        &speaking(CodingZero::Utf8),
        Extent::Whole,
        "\\u{e9}\\u{20ac}|",
    );
    check(b"\xff", SubmitAlphabet::Default, &speaking(CodingZero::Utf8), Extent::Whole, "0x45");
    let lenient = SmppAccess { latin1_fallback: true, ..access() };
    check(b"caf\xe9", SubmitAlphabet::Default, &lenient, Extent::Whole, "caf\\u{e9}|");
    check(b"caf\x05", SubmitAlphabet::Default, &lenient, Extent::Whole, "caf\\u{e9}|gsm7");
}

#[test]
fn part_of_a_concatenated_text_is_passed_on_octet_for_octet() {
    let plain = access();
    check(b"ab", SubmitAlphabet::Default, &plain, Extent::Part, "ab|gsm7");
    check(b"a\x1b", SubmitAlphabet::Default, &plain, Extent::Part, "a\\u{1b}|binary!");
    check(b"a\x1b", SubmitAlphabet::Default, &plain, Extent::Whole, "a |gsm7");
    check(b"\x1b\x41", SubmitAlphabet::Default, &plain, Extent::Part, "\\u{1b}A|binary!");
    check(b"caf\xe9", SubmitAlphabet::Latin1, &plain, Extent::Part, "caf\\u{e9}|gsm7");
    check(b"\xc1", SubmitAlphabet::Latin1, &plain, Extent::Part, "\\u{c1}|ucs2");
    check(b"\x00A", SubmitAlphabet::Ucs2, &plain, Extent::Part, "A|ucs2");
    for (octets, expect) in [
        (&b"\xd8\x3d"[..], "\\u{d8}=|binary!"),
        (b"\x00a\xd8\x3d", "\\u{0}a\\u{d8}=|binary!"),
        (b"\xde\x00\x00a\xd8\x3d", "\\u{de}\\u{0}\\u{0}a\\u{d8}=|binary!"),
        (b"\xd8\x3d\x00a", "0x45"),
        (b"\x00a\xde\x00", "0x45"),
        (b"\x00a\xd8\x3d\x00b", "0x45"),
    ] {
        check(octets, SubmitAlphabet::Ucs2, &plain, Extent::Part, expect);
        check(octets, SubmitAlphabet::Ucs2, &plain, Extent::Headed, "0x45");
    }
    check(b"a\x1b", SubmitAlphabet::Default, &plain, Extent::Headed, "a\\u{1b}|binary!");
}
