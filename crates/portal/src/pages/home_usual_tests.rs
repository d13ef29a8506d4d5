//! Unit tests of `home_usual.rs`.

use super::*;

fn row(start: &str, accepted: u64) -> StatisticView {
    let zero = serde_json::json!({
        "start": start, "value": null, "accepted": accepted, "parts": 0, "delivered": 0, "expired": 0,
        "undeliverable": 0, "rejected": 0, "open": 0, "refused": 0, "spend": 0, "refunded": 0,
        "p50_ms": null, "p95_ms": null
    });
    serde_json::from_value(zero).expect("a row of statistics")
}

#[test]
fn usual_number_is_the_average_of_the_same_hour_of_earlier_weeks() {
    let rows = [
        row("2026-11-02T09:00:00Z", 100),
        row("2026-11-09T09:00:00Z", 300),
        row("2026-11-16T09:00:00Z", 150),
    ];
    let weeks = Weeks::of(&rows);
    let monday = time("2026-11-16T09:00:00Z").unwrap();
    assert_eq!(weeks.usual(monday), Some(200));
    assert_eq!(weeks.usual(Time(monday.0 - WEEK_MS)), Some(100));
    assert_eq!(weeks.usual(Time(monday.0 - 2 * WEEK_MS)), None);
    let now = Timestamp::parse("2026-11-16T09:30:00Z").unwrap();
    assert_eq!(weeks.today(now), 150);
    // Half of the hour is over, and the hours before it have none.
    assert_eq!(weeks.today_note(now).as_deref(), Some("50 % above usual"));
}

#[test]
fn difference_to_usual_is_said_in_words() {
    for (count, usual, expect) in [
        (103, 100, Some("As usual at this time")),
        (50, 100, Some("50 % below usual")),
        (2_000, 100, Some("20 × the usual number")),
        (5, 0, Some("None usually at this time")),
        (0, 0, None),
    ] {
        assert_eq!(compared(count, usual).as_deref(), expect, "{count} {usual}");
    }
}
