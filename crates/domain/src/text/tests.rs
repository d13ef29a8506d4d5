//! Unit tests of `text/mod.rs`.

use super::*;

#[track_caller]
fn check(text: &str, expect: Result<(), TextRefusal>) {
    assert_eq!(MessageText::parse(text).map(|parsed| assert_eq!(parsed.as_str(), text)), expect);
}

#[test]
fn text_has_1_to_1600_characters_regardless_of_bytes() {
    check("", Err(TextRefusal::Empty));
    check(" ", Ok(()));
    for letter in ["a", "é", "€", "😀"] {
        check(&letter.repeat(1600), Ok(()));
        check(&letter.repeat(1601), Err(TextRefusal::TooLong { chars: 1601 }));
    }
}

#[test]
fn debug_output_hides_the_text() {
    assert_eq!(format!("{:?}", MessageText::parse("secret").unwrap()), "MessageText(6 bytes)");
}
