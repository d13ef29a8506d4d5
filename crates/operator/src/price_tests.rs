//! Unit tests of `price.rs`.

use super::in_force_at;

#[test]
fn latest_price_that_has_begun_and_not_ended_is_in_force_for_each_account_and_area() {
    let names = [
        ("49", None),
        ("49@2026-01-01", None),
        ("49@2027-01-01T12:00:00Z", None),
        ("shop/49@2026-06-01", Some("2027-01-02")),
        ("DE@2027-01-01", None),
    ];
    for (at, expect) in [
        ("2025-01-01", vec!["49"]),
        ("2026-01-01", vec!["49@2026-01-01"]),
        ("2026-06-15T09:00:00Z", vec!["49@2026-01-01", "shop/49@2026-06-01"]),
        ("2027-01-01", vec!["49@2026-01-01", "DE@2027-01-01", "shop/49@2026-06-01"]),
        ("2027-01-02", vec!["49@2027-01-01T12:00:00Z", "DE@2027-01-01"]),
    ] {
        let mut actual: Vec<&str> = in_force_at(names, at).unwrap().into_iter().collect();
        actual.sort_unstable();
        assert_eq!(actual, expect, "{at}");
    }
    let refused = in_force_at(names, "tomorrow").unwrap_err();
    assert!(refused.starts_with("\"tomorrow\" is not "), "{refused}");
}
