//! Unit tests of `alphabet.rs`.

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
    let codings =
        [(CODING_DEFAULT, 0), (CODING_DEFAULT, 1), (CODING_OCTETS, 0), (CODING_UCS2, 0), (CODING_UCS2, 3)];
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
    check(DefaultAlphabet::Ascii, usize::MAX, &("é".repeat(160)), &("8:".to_owned() + &"00e9".repeat(160)));
}

#[test]
fn character_outside_the_counted_encoding_returns_none() {
    assert_eq!(write("я", Encoding::Gsm7, DefaultAlphabet::Gsm, 140, &mut Vec::new()), None);
}
