//! Unit tests of `record.rs`.

use super::*;

#[test]
fn time_is_a_moment_a_day_or_how_long_ago() {
    let now = Timestamp::parse("2026-11-16T12:00:00Z").unwrap();
    for (text, expect) in [
        ("2h", "2026-11-16T10:00:00Z"),
        ("7d", "2026-11-09T12:00:00Z"),
        ("2026-11-15", "2026-11-15T00:00:00Z"),
        ("2026-11-15T09:30:00+02:00", "2026-11-15T07:30:00Z"),
        ("2026-11-15T09:30:00 02:00", "2026-11-15T07:30:00Z"),
    ] {
        assert_eq!(time("since", text, now).unwrap().to_iso(), expect, "{text}");
    }
    let error = time("since", "yesterday", now).unwrap_err().to_string();
    assert!(error.contains("how long ago such as 30m"), "{error}");
    assert!(range_of(Some("1h"), Some("2h"), now).is_err());
}
