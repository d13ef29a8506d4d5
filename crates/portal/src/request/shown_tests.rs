//! Unit tests of `shown.rs`.

use super::*;

#[test]
fn runway_is_said_in_days() {
    for (available, spent, expect) in [
        (100, 0, None),
        (0, 100, Some("Less than a day")),
        (10, 700, Some("Less than a day")),
        (100, 700, Some("About a day")),
        (950, 700, Some("About 9 days")),
        (i64::MAX, 1, Some("More than a year")),
    ] {
        let expect = expect.map(|text| format!("{text} at the rate of the last week"));
        assert_eq!(lasts(available, spent).map(runway_words), expect);
    }
}

#[test]
fn changes_have_a_sign() {
    for (micros, expect) in [(500_000_000, "+500.00"), (-50_000, "−0.05"), (0, "0.00")] {
        assert_eq!(signed(Amount(Money::from_micros(micros))), expect);
    }
}
