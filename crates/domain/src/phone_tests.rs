//! Unit tests of `phone.rs`.

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let result = match Msisdn::parse(text) {
        Ok(number) => format!("{number} {} logged {number:?}", number.digits()),
        Err(refusal) => format!("{refusal:?}"),
    };
    assert_eq!(result, expect, "{text:?}");
}

#[test]
fn numbers_in_a_text_are_hidden_and_other_digits_are_not() {
    for (text, expect) in [
        ("to +4915112345678 is blocked", "to +491********78 is blocked"),
        ("'004915112345678'", "'0049*********78'"),
        ("+49 151 123-45678, please", "+49 ***********78, please"),
        ("0151/12345678", "0151*******78"),
        ("15112345678: only digits", "1511*****78: only digits"),
        ("2026-11-15T09:30:00Z, 402, 10 500", "2026-11-15T09:30:00Z, 402, 10 500"),
        ("costs 0.065123, not allowed from 203.0.113.177", "costs 0.065123, not allowed from 203.0.113.177"),
        ("message 15506713804701696", "message 15506713804701696"),
        ("no + and no digits +", "no + and no digits +"),
        ("é+1234567é", "é+123**67é"),
        ("+4915112345678 +4915187654321", "+491***********************21"),
        ("00 4915112345678901", "00 4*************01"),
        ("+49\u{a0}151\u{a0}123\u{2011}45678", "+49\u{a0}***********78"),
        ("+٤٩١٥١١٢٣٤٥٦٧٨", "+٤٩١********٧٨"),
    ] {
        assert_eq!(hide_numbers(text), expect);
    }
}

#[test]
fn masked_number_keeps_country_and_last_digits() {
    for (number, expect) in
        [("+4915112345678", "+491********78"), ("70707", "70707"), ("+49", "+49"), ("", "")]
    {
        assert_eq!(masked(number), expect);
    }
    assert_eq!(masked("7070707"), "7070*07");
}

#[test]
fn numbers_of_7_to_15_digits_are_parsed() {
    check("+4915112345678", "+4915112345678 4915112345678 logged +49151…678");
    check("+1234567", "+1234567 1234567 logged +123…67");
    check("+1234567890", "+1234567890 1234567890 logged +123…90");
    check("+999999999999999", "+999999999999999 999999999999999 logged +99999…999");
}

#[test]
fn each_rule_has_its_own_refusal() {
    check("", "MissingPlus");
    check("4915112345678", "MissingPlus");
    check("004915112345678", "MissingPlus");
    check("+", "Length(0)");
    check("+123456", "Length(6)");
    check("+1234567890123456", "Length(16)");
    check("+0123456789", "LeadingZero");
    check("+49 151 1234567", "NotDigits");
    check("++4915112345678", "NotDigits");
    check("+49151123456٧", "NotDigits");
    check("+4915112345678\n", "NotDigits");
    check(" +4915112345678", "MissingPlus");
}

#[test]
fn integer_and_text_hold_the_same_numbers() {
    for (number, valid) in
        [(999_999, false), (1_000_000, true), (999_999_999_999_999, true), (1_000_000_000_000_000, false)]
    {
        assert_eq!(Msisdn::from_number(number).is_some(), valid, "{number}");
        assert_eq!(Msisdn::parse_digits(&number.to_string()).is_ok(), valid, "{number}");
    }
    let number = Msisdn::parse("+4915112345678").unwrap();
    assert_eq!(Msisdn::from_number(number.number()), Some(number));
}
