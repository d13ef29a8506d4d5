//! Unit tests of `pattern.rs`.

use super::super::fold::fold;
use super::*;
use regex::Regex;

#[track_caller]
fn finds(pattern: &str, text: &str) -> bool {
    Regex::new(&fold_pattern(pattern).unwrap()).unwrap().is_match(&fold(text))
}

#[test]
fn folded_patterns_match_look_alikes() {
    for (pattern, text) in [
        ("bank", "Your ВАNК"),
        ("paypal", "PayPa1"),
        ("paypal", "PayPaI"),
        ("paypal", "раураl"),
        ("bitcoin", "b1tc0in"),
        ("bitcoin", "bІtсоіn"),
        ("bitcoin", "B|TCOIN"),
        ("bill", "b1ll"),
        ("america", "arnerica"),
        ("whatsapp", "vvhatsapp"),
        ("win 100", "win 100"),
        ("b1t", "B1T"),
        ("[bp]ank", "раnk"),
        (r"[0-9]{2,}x", "123 45x"),
        ("(a|m)+z", "arnz"),
        ("банк", "БAHK"),
        (r"\bpin\b", "the ріn."),
    ] {
        assert!(finds(pattern, text), "{pattern} in {text}");
    }
}

#[test]
fn folded_patterns_do_not_match_other_words() {
    for (pattern, text) in [
        ("mail", "small"),
        ("mall", "E-MAIL"),
        ("oil", "a dollar"),
        ("earn", "our team"),
        ("lol", "101"),
        ("loo", "100"),
        ("do", "D.0"),
        (r"\d{2}", "hello"),
        (r"\bpin\b", "spinning"),
    ] {
        assert!(!finds(pattern, text), "{pattern} in {text}");
    }
    assert_eq!(fold_pattern("("), None);
}
