//! Unit tests of `prefix.rs`.

use proptest::prelude::*;

use super::*;

fn table(prefixes: &[&str]) -> PrefixTable<String> {
    let entries = prefixes.iter().map(|text| (Prefix::parse(text).unwrap(), (*text).to_owned()));
    PrefixTable::build(entries).unwrap()
}

#[track_caller]
fn check(prefixes: &[&str], number: &str, expect: Option<&str>) {
    let table = table(prefixes);
    let found = table.covering(Msisdn::parse(number).unwrap()).next().map(|(_, text)| text.clone());
    assert_eq!(found.as_deref(), expect, "{number} in {prefixes:?}");
}

#[test]
fn the_longest_prefix_wins() {
    let prefixes = ["49", "4915", "491511", "44", "1"];
    check(&prefixes, "+491511234567", Some("491511"));
    check(&prefixes, "+491521234567", Some("4915"));
    check(&prefixes, "+498912345678", Some("49"));
    check(&prefixes, "+447700900123", Some("44"));
    check(&prefixes, "+12025550123", Some("1"));
    check(&prefixes, "+33612345678", None);
    check(&prefixes, "+500000000000", None);
}

#[test]
fn empty_prefix_matches_all_other_numbers() {
    check(&["", "49"], "+33612345678", Some(""));
    check(&["", "49"], "+4915112345", Some("49"));
    check(&[""], "+999999999999999", Some(""));
    check(&[], "+999999999999999", None);
    let default = PrefixTable::<()>::default();
    assert_eq!(default.covering(Msisdn::parse("+999999999999999").unwrap()).count(), 0);
}

#[test]
fn neighbouring_prefixes_do_not_overlap() {
    let prefixes = ["48", "49", "499", "5"];
    check(&prefixes, "+489999999999999", Some("48"));
    check(&prefixes, "+490000000000000", Some("49"));
    check(&prefixes, "+499000000000000", Some("499"));
    check(&prefixes, "+499999999999999", Some("499"));
    check(&prefixes, "+500000000000000", Some("5"));
    check(&["999999999999999"], "+999999999999999", Some("999999999999999"));
    check(&["999999999999999"], "+999999999999998", None);
}

#[test]
fn number_never_matches_a_prefix_longer_than_itself() {
    check(&["12345670"], "+1234567", None);
    check(&["12", "12345670"], "+1234567", Some("12"));
    check(&["12", "1234567"], "+1234567", Some("1234567"));
    check(&["12", "12345670"], "+12345670", Some("12345670"));
}

#[test]
fn prefix_has_up_to_15_digits() {
    for (text, expect) in [
        ("+49", PrefixRefusal::NotDigits),
        ("4 9", PrefixRefusal::NotDigits),
        ("049", PrefixRefusal::LeadingZero),
        ("0", PrefixRefusal::LeadingZero),
        ("1234567890123456", PrefixRefusal::TooLong(16)),
    ] {
        assert_eq!(Prefix::parse(text), Err(expect), "{text:?}");
    }
    for text in ["", "1", "49", "123456789012345"] {
        assert_eq!(Prefix::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn duplicate_prefix_is_refused() {
    let entries = ["49", "44", "49"].map(|text| (Prefix::parse(text).unwrap(), ()));
    let duplicate = PrefixTable::build(entries).unwrap_err();
    assert_eq!(duplicate.to_string(), "the prefix \"49\" is listed twice");
}

/// Uses few digits, so that prefixes often nest and touch.
fn few_digits(lengths: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!['1', '2', '9', '0']), lengths)
        .prop_map(String::from_iter)
        .prop_filter("no leading zero", |digits| !digits.starts_with('0'))
}

proptest! {
    #[test]
    fn covering_prefixes_are_the_same_as_by_comparing_texts(
        prefixes in prop::collection::btree_set(few_digits(0..=9), 0..40),
        numbers in prop::collection::vec(few_digits(7..=15), 1..40),
    ) {
        let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let table = table(&prefixes);
        for number in numbers {
            let mut expect: Vec<&str> = prefixes.iter().copied().filter(|prefix| number.starts_with(prefix)).collect();
            expect.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
            let found = table.covering(Msisdn::parse_digits(&number).unwrap());
            let found: Vec<&str> = found.map(|(_, text)| text.as_str()).collect();
            prop_assert_eq!(found, expect, "{} in {:?}", number, prefixes);
        }
    }
}
