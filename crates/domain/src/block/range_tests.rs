//! Unit tests of `range.rs`.

use super::*;
use crate::phone::Msisdn;

fn prefixes(text: &str) -> String {
    let range = NumberRange::parse(text).unwrap();
    range.prefixes().map(|prefix| prefix.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn range_becomes_the_shortest_prefixes_that_cover_it() {
    for (text, expect) in [
        ("4990000-4990099", "49900"),
        ("4990000-4990000", "4990000"),
        ("4990008-4990021", "4990008 4990009 499001 4990020 4990021"),
        ("+4990098-+4990101", "4990098 4990099 4990100 4990101"),
        ("1-9", "1 2 3 4 5 6 7 8 9"),
        ("1000000-9999999", "1 2 3 4 5 6 7 8 9"),
        ("10-39", "1 2 3"),
    ] {
        assert_eq!(prefixes(text), expect, "{text}");
    }
    assert_eq!(prefixes("100000000000001-999999999999998").split(' ').count(), 14 * 9 + 7 + 14 * 9);
}

#[test]
fn range_covers_its_ends_and_nothing_beyond() {
    let range = NumberRange::parse("4915112345670-4915112345739").unwrap();
    let has = |number: u64| {
        let number = Msisdn::from_number(number).unwrap();
        range.prefixes().filter(|prefix| prefix.begins(number)).count()
    };
    for (number, expect) in [
        (4_915_112_345_669, 0),
        (4_915_112_345_670, 1),
        (4_915_112_345_700, 1),
        (4_915_112_345_739, 1),
        (4_915_112_345_740, 0),
        (49_151_123_457_000, 1),
    ] {
        assert_eq!(has(number), expect, "{number}");
    }
}

#[test]
fn invalid_range_is_refused_with_its_reason() {
    for (text, expect) in [
        ("", RangeRefusal::NotTwo),
        ("4990000", RangeRefusal::NotTwo),
        ("-4990000", RangeRefusal::NotTwo),
        ("4990000-", RangeRefusal::NotTwo),
        ("0100-0200", RangeRefusal::Digits(PrefixRefusal::LeadingZero)),
        ("49a-49b", RangeRefusal::Digits(PrefixRefusal::NotDigits)),
        ("49-50-51", RangeRefusal::Digits(PrefixRefusal::NotDigits)),
        ("4990000-499009", RangeRefusal::Lengths),
        ("4990099-4990000", RangeRefusal::Backwards),
    ] {
        assert_eq!(NumberRange::parse(text), Err(expect), "{text}");
    }
    assert_eq!(NumberRange::parse("+4990000-4990099").unwrap().to_string(), "4990000-4990099");
}
