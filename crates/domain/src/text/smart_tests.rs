//! Unit tests of `smart.rs`.

use super::*;
use crate::text::Encoding;

#[track_caller]
fn check(text: &str, expect: Option<&str>) {
    let replaced = in_gsm7(&MessageText::parse(text).unwrap());
    assert_eq!(replaced.as_ref().map(MessageText::as_str), expect, "{text:?}");
    if let Some(replaced) = replaced {
        assert_eq!(replaced.measure().encoding, Encoding::Gsm7, "{text:?}");
    }
}

#[test]
fn typographic_characters_are_replaced() {
    check("\u{201C}It\u{2019}s here\u{201D} \u{2013} now\u{2026}", Some("\"It's here\" - now..."));
    check("a\u{00A0}b\u{200B}c\u{00AD}d", Some("a bcd"));
    check("\u{00AB}caf\u{00E9}\u{00BB}", Some("\"caf\u{00E9}\""));
}

#[test]
fn text_that_needs_ucs2_anyway_is_unchanged() {
    check("\u{201C}\u{43F}\u{440}\u{438}\u{432}\u{435}\u{442}\u{201D}", None);
    check("\u{2019}\u{1F600}", None);
}

#[test]
fn gsm7_text_is_unchanged() {
    check("plain \u{20AC} [text]", None);
}

#[test]
fn replacement_is_never_empty_or_too_long() {
    check("\u{200B}", None);
    check(&"\u{2026}".repeat(1600), None);
    check(&"\u{2026}".repeat(100), Some(&"...".repeat(100)));
}
