//! Unit tests of `concatenation.rs`.

use super::*;

fn segment(data_coding: u8, alphabet: Alphabet, octets: &[u8]) -> MoSegment {
    MoSegment { data_coding, alphabet, header: Box::default(), octets: octets.into() }
}

#[track_caller]
fn check(segments: &[(u8, u8, Alphabet, &[u8])], text: &str, form: MoEncoding) {
    let segments: Vec<_> = segments
        .iter()
        .map(|(no, coding, alphabet, octets)| (*no, segment(*coding, *alphabet, octets)))
        .collect();
    let content = MoContent::of(&segments);
    assert_eq!((content.text.as_str(), content.form), (text, form));
}

#[test]
fn segments_are_decoded_across_their_boundaries() {
    use Alphabet::{Gsm, Latin1, Octets, Ucs2};
    let binary = |data_coding| MoEncoding::Octets { data_coding };
    check(&[(1, 0, Gsm, b"hello")], "hello", MoEncoding::SingleByte);
    check(&[(1, 0, Gsm, b"1 \x1b"), (2, 0, Gsm, b"\x65")], "1 €", MoEncoding::SingleByte);
    check(&[(1, 8, Ucs2, b"\xd8\x3d"), (2, 8, Ucs2, b"\xde\x00")], "😀", MoEncoding::Ucs2);
    check(&[(1, 8, Ucs2, b"\x00a\xd8"), (2, 8, Ucs2, b"\x3d\xde\x00")], "a😀", MoEncoding::Ucs2);
    // The part between them is missing, so they are decoded separately.
    check(&[(1, 8, Ucs2, b"\xd8\x3d"), (3, 8, Ucs2, b"\xde\x00")], "\u{fffd}\u{fffd}", MoEncoding::Ucs2);
    check(&[(2, 0, Gsm, b"only"), (4, 0, Gsm, b"these")], "onlythese", MoEncoding::SingleByte);
    check(&[(1, 3, Latin1, b"\xe9"), (2, 8, Ucs2, b"\x04\x16")], "éЖ", MoEncoding::Ucs2);
    check(&[(1, 4, Octets, b"\x01\xff"), (2, 4, Octets, b"\x00")], "01ff00", binary(4));
    check(&[(1, 0, Gsm, b"a\x80")], "6180", binary(0));
    check(&[(1, 8, Ucs2, b"\x00")], "00", binary(8));
    check(&[(1, 0, Gsm, b"a"), (2, 4, Octets, b"\x0b")], "a0b", MoEncoding::SingleByte);
    check(&[(1, 0, Gsm, b"")], "", MoEncoding::SingleByte);
    check(&[], "", MoEncoding::SingleByte);
}

#[test]
fn header_of_the_first_part_is_kept_and_binary_data_round_trips() {
    let first = MoSegment { header: [5, 4, 1, 2, 3, 4].into(), ..segment(4, Alphabet::Octets, b"\xca\xfe") };
    let content = MoContent::of(&[(1, first), (2, segment(4, Alphabet::Octets, b"\x00"))]);
    assert_eq!((&content.header[..], content.text.as_str()), (&[5, 4, 1, 2, 3, 4][..], "cafe00"));
    assert_eq!(content.form.octets_of(&content.text), Some(vec![0xca, 0xfe, 0]));
    assert_eq!(content.form.octets_of("caf"), None);
    assert_eq!(content.form.octets_of("zz"), None);
    assert_eq!(MoEncoding::Ucs2.octets_of("cafe"), None);
    assert_eq!(format!("{content:?}"), "MoContent(Octets { data_coding: 4 }, 6 bytes)");
}
