//! Unit tests of `sender.rs`.

use std::collections::HashSet;

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let result = match Sender::parse(text) {
        Ok(sender) => {
            assert_eq!(sender.as_str(), text);
            format!("{:?} {}", sender.kind(), sender.address())
        }
        Err(refusal) => format!("{refusal:?}"),
    };
    assert_eq!(result, expect, "{text:?}");
}

#[test]
fn names_have_up_to_eleven_characters_and_a_letter() {
    check("Hermod", "Alphanumeric Hermod");
    check("A", "Alphanumeric A");
    check("A&B-c_d.e 1", "Alphanumeric A&B-c_d.e 1");
    check("ABCDEFGHIJKL", "NameTooLong(12)");
    check("1-2", "NoLetter");
    check("   ", "NoLetter");
    check("", "Empty");
}

#[test]
fn numbers_have_three_to_fifteen_digits() {
    check("123", "ShortCode 123");
    check("123456", "ShortCode 123456");
    check("1234567", "International 1234567");
    check("+123", "International 123");
    check("+4915112345678", "International 4915112345678");
    check("123456789012345", "International 123456789012345");
    check("12", "NumberLength(2)");
    check("+1234567890123456", "NumberLength(16)");
}

#[test]
fn invalid_characters_are_reported_before_the_length() {
    for text in ["Müller", "A+B", "+", "+12a", "a\n", "a\0", "Acme!", "Ａcme", "name with a tab\t"] {
        check(text, "Characters");
    }
}

#[test]
fn number_with_and_without_plus_is_the_same_sender() {
    let same = |one: &str, other: &str| {
        let approved = HashSet::from([Sender::parse(one).unwrap()]);
        approved.contains(&Sender::parse(other).unwrap())
    };
    assert!(same("+4915112345678", "4915112345678"));
    assert!(same("4915112345678", "+4915112345678"));
    assert!(same("Acme", "Acme"));
    assert!(!same("Acme", "ACME"));
    assert!(!same("12345", "+12345"));
    assert!(!same("4915112345678", "4915112345679"));
}

#[test]
fn look_alike_names_have_the_same_appearance() {
    for (name, fakes) in [
        (
            "PayPal",
            &["paypal", "PAYPAL", "PayPaI", "Paypa1", "Pay Pal", "Pay-Pal", "P.A.Y.P.A.L", "P4yPal"][..],
        ),
        ("Bern", &["BERN", "Bem"]),
        ("Amazon", &["AMAZ0N", "arnazon", "Ama2on", "Amazon.", "4mazon"]),
        ("SWISSBANK", &["SvvissBank", "5WISSBANK", "Swiss8ank", "SWlSSBANK"]),
        ("DHL", &["D.H.L", "dhl", "DH1"]),
    ] {
        let appearance = Sender::parse(name).unwrap().appearance();
        for fake in fakes {
            assert_eq!(Sender::parse(fake).unwrap().appearance(), appearance, "{fake}");
        }
    }
    for (one, other) in [("PayPal", "PayPals"), ("Bank", "Bahn"), ("Shop", "Shop24"), ("DHL", "DPD")] {
        let appearance = |name| Sender::parse(name).unwrap().appearance();
        assert_ne!(appearance(one), appearance(other), "{one} {other}");
    }
    for number in ["+4915112345678", "80808"] {
        assert_eq!(Sender::parse(number).unwrap().appearance(), Sender::parse(number).unwrap());
    }
}
