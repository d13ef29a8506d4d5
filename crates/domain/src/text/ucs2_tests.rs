//! Unit tests of `ucs2.rs`.

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
