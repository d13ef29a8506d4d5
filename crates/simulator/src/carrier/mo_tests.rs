//! Unit tests of `mo.rs`.

use super::*;
use crate::carrier::text::{CodingZeroAlphabet, decode, split_header};

#[track_caller]
fn check(mo: &MoText, lengths: &[usize]) {
    let parts = mo.parts();
    assert_eq!(parts.iter().map(|part| part.octets.len()).collect::<Vec<_>>(), lengths);
    let read = parts.iter().map(|part| {
        let (_, text) = split_header(part.esm_class & UDHI != 0, &part.octets);
        decode(part.data_coding, CodingZeroAlphabet::Gsm, text)
    });
    assert_eq!(read.collect::<String>(), mo.text);
}

#[test]
fn text_is_split_at_the_limits_of_its_alphabet() {
    let mo = |text: &str| MoText::new("4917", "12345", text);
    check(&mo("hello"), &[5]);
    check(&mo(&"x".repeat(160)), &[160]);
    check(&mo(&"x".repeat(161)), &[6 + 153, 6 + 8]);
    check(&mo(&"Ж".repeat(70)), &[140]);
    check(&mo(&"Ж".repeat(71)), &[6 + 134, 6 + 8]);
    check(&mo(&format!("{}€€€€€", "x".repeat(152))), &[6 + 152, 6 + 10]);
    check(&mo(&format!("{}😀", "Ж".repeat(69))), &[6 + 134, 6 + 8]);
    check(&mo(&"x".repeat(161)).wide(), &[7 + 152, 7 + 9]);
    check(&mo("hi").with_element(0x24, &[1]), &[4 + 2]);
}

#[test]
fn concatenation_element_follows_other_elements() {
    let parts =
        MoText::new("4917", "12345", &"x".repeat(161)).reference(0x2a).with_element(0x24, &[1]).parts();
    assert_eq!(parts[0].octets[..9], [8, 0x24, 1, 1, 0, 3, 0x2a, 2, 1]);
    assert_eq!(parts[1].octets[..9], [8, 0x24, 1, 1, 0, 3, 0x2a, 2, 2]);
    assert_eq!(parts[0].esm_class, UDHI);
}
