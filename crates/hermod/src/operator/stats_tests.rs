//! Unit tests of `stats.rs`.

use super::*;

#[test]
fn statistics_are_shown_with_bars() {
    let json = r#"{"per": "hour", "by": "country", "since": "2026-11-15T12:00:00Z", "until": "2026-11-16T12:00:00Z",
            "items": [
              {"start": null, "value": "DE", "accepted": 1000, "parts": 1200, "delivered": 950, "expired": 10,
               "undeliverable": 30, "rejected": 0, "open": 10, "refused": 0, "currency": "EUR", "spend": 50, "refunded": 0, "p50_ms": 800,
               "p95_ms": 4200},
              {"start": null, "value": null, "accepted": 1, "parts": 1, "delivered": 0, "expired": 0, "undeliverable": 0,
               "rejected": 0, "open": 1, "refused": 0, "currency": "EUR", "spend": 0.05, "refunded": 0, "p50_ms": null,
               "p95_ms": null}],
            "record": {"lag_ms": 100, "catching_up": 0}}"#;
    let expect = "\
COUNTRY    MESSAGES  PARTS  DELIVERED  FAILED  EXPIRED  OPEN     SPEND     P50    P95
DE             1000   1200      96.0%      30       10    10    50 EUR  800 ms  4.2 s  ████████████████████████
(unknown)         1      1                                 1  0.05 EUR                 █

1001 messages from 2026-11-15T12:00:00Z to 2026-11-16T12:00:00Z, counted per hour.
";
    assert_eq!(statistics_text(&serde_json::from_str(json).unwrap()), expect);
}

#[test]
fn column_has_the_name_of_what_is_counted() {
    let head = |by: &str, value: &str| {
        let json = format!(
            r#"{{"per": "hour", "by": "{by}", "since": "x", "until": "y", "items": [{{"start": null, "value": "{value}",
                "accepted": 1, "parts": 1, "delivered": 0, "expired": 0, "undeliverable": 0, "rejected": 0, "open": 1,
                "refused": 1, "currency": "EUR", "spend": 0, "refunded": 0, "p50_ms": null, "p95_ms": null}}],
                "record": {{"lag_ms": 0, "catching_up": 0}}}}"#
        );
        let text = statistics_text(&serde_json::from_str(&json).unwrap());
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        (head("carrier", "acme"), head("refusal", "NO_PRICE")),
        ("CARRIER".to_owned(), "CODE".to_owned())
    );
}

#[test]
fn spend_in_several_currencies_is_not_shown_as_a_sum() {
    let json = r#"{"per": "day", "by": "all", "since": "2026-11-15T12:00:00Z", "until": "2026-11-16T12:00:00Z",
            "items": [
              {"start": null, "value": null, "accepted": 2, "parts": 2, "delivered": 2, "expired": 0, "undeliverable": 0,
               "rejected": 0, "open": 0, "refused": 0, "currency": null, "spend": null, "refunded": null, "p50_ms": null,
               "p95_ms": null}],
            "record": {"lag_ms": 100, "catching_up": 0}}"#;
    let text = statistics_text(&serde_json::from_str(json).unwrap());
    assert!(text.contains("(several)") && text.contains("--by account"), "{text}");
}
