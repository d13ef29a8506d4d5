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
fn each_of_several_currencies_has_its_own_row() {
    let row = |currency: &str, spend: &str| {
        format!(
            r#"{{"start": null, "value": null, "accepted": 2, "parts": 2, "delivered": 2, "expired": 0, "undeliverable": 0,
                "rejected": 0, "open": 0, "refused": 0, "currency": {currency}, "spend": {spend}, "refunded": {spend},
                "p50_ms": null, "p95_ms": null}}"#
        )
    };
    let shown = |rows: &[String]| {
        let json = format!(
            r#"{{"per": "day", "by": "all", "since": "2026-11-15T12:00:00Z", "until": "2026-11-16T12:00:00Z",
                "items": [{}], "record": {{"lag_ms": 100, "catching_up": 0}}}}"#,
            rows.join(",")
        );
        statistics_text(&serde_json::from_str(&json).unwrap())
    };
    let [euro, dollar, none] = [row("\"EUR\"", "5"), row("\"USD\"", "7"), row("null", "null")];
    let text = shown(&[euro.clone(), dollar, none]);
    assert!(text.contains("5 EUR") && text.contains("7 USD") && text.contains("(unknown)"), "{text}");
    assert!(text.contains(SEVERAL_NOTE), "{text}");
    assert!(!shown(&[euro]).contains(SEVERAL_NOTE));
}
