//! Unit tests of `numbers.rs`.

use super::*;

#[test]
fn amount_has_groups_and_at_least_two_decimals() {
    for (text, expect) in [
        ("999999.3", "999,999.30"),
        ("0.05", "0.05"),
        ("12", "12.00"),
        ("-1204.502", "-1,204.502"),
        ("0", "0.00"),
    ] {
        assert_eq!(amount(text), expect);
    }
}

#[test]
fn short_number_keeps_one_decimal_below_ten_units() {
    for (number, expect) in
        [(950, "950"), (1_000, "1k"), (1_250, "1.2k"), (34_900, "34k"), (1_500_000, "1.5M")]
    {
        assert_eq!(short(number), expect);
    }
}

#[test]
fn duration_uses_the_two_largest_units() {
    let cases = [
        (14, "14 ms"),
        (2_314, "2.31 s"),
        (42_500, "42.5 s"),
        (192_000, "3 min 12 s"),
        (18_120_000, "5 h 2 min"),
        (187_200_000, "2 d 4 h"),
    ];
    for (ms, expect) in cases {
        assert_eq!(duration(ms), expect);
    }
}

#[test]
fn percent_is_rounded_down_and_absent_of_nothing() {
    assert_eq!(percent(9_999, 10_000).as_deref(), Some("99.9 %"));
    assert_eq!(percent(3, 3).as_deref(), Some("100 %"));
    assert_eq!(percent(0, 0), None);
}
