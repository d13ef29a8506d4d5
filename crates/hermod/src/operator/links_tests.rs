//! Unit tests of `links.rs`.

use super::*;

/// A traffic view in JSON.
fn traffic(unmatched: u64, error_ratio: &str, receipt_ratio: &str) -> String {
    format!(
        r#"{{"submitted": 0, "accepted": 0, "refused": {{}}, "timed_out": 0, "receipts": 0, "inbound": 0, "unmatched_ratio": null,
                "unmatched": {unmatched}, "error_ratio": {error_ratio}, "receipt_ratio": {receipt_ratio}}}"#
    )
}

#[test]
fn links_are_rows_under_their_carrier_and_problems_are_lines_below() {
    let (none, half) = (traffic(0, "null", "null"), traffic(0, "0.5", "null"));
    let totals = traffic(2, "0.001", "0.98");
    let link = r#""direction": "both", "address": "x", "tls": false, "since": "x", "next_attempt_at": null,
            "bind_attempts": 1, "window": 10, "full_rate": 100"#;
    let json = format!(
        r#"{{"at": "2026-06-15T12:00:00Z", "items": [
            {{"carrier": "acme", "health": "up", "stopped": null, "tracing_until": null,
             "queue": {{"waiting": 1200, "deferred": 0, "in_flight": 0, "oldest": null, "oldest_for_s": 90}},
             "last_minute": {none}, "last_ten_minutes": {half},
             "links": [
                {{"number": 1, {link}, "state": "bound", "for_s": 7200, "next_attempt_in_s": null, "out": 4,
                 "rate": 50, "parts_per_second": 12.5, "last_error": {{"at": "x", "text": "old"}}, "totals": {totals}}},
                {{"number": 2, {link}, "state": "waiting", "for_s": 3, "next_attempt_in_s": 12, "out": 0,
                 "rate": 100, "parts_per_second": 0.0,
                 "last_error": {{"at": "2026-06-15T11:59:57Z", "text": "refused\u001b"}}, "totals": {none}}}]}},
            {{"carrier": "beta", "health": "stopped", "stopped": {{"since": "2026-06-15T11:00:00Z", "why": "it said so"}},
             "tracing_until": null,
             "queue": {{"waiting": 0, "deferred": 0, "in_flight": 0, "oldest": null, "oldest_for_s": null}},
             "last_minute": {none}, "last_ten_minutes": {none}, "links": []}}]}}"#
    );
    let expect = "\
CARRIER  HEALTH   WAITING  LINK  STATE    FOR     RATE   OUT  PARTS/S  ERRORS  RECEIPTS  UNMATCHED
acme     up          1200  1     bound     2h   50/100  4/10     12.5    0.1%     98.0%          2
                           2     waiting   3s  100/100  0/10      0.0                            0
beta     stopped        0                                                                        0

acme 2: refused\\u{1b} (2026-06-15T11:59:57Z); tries again in 12s

acme: the oldest part has waited for 1m

beta is stopped since 2026-06-15T11:00:00Z: it said so
    hermod carrier resume beta

As of 2026-06-15T12:00:00Z.
";
    assert_eq!(links_text(&serde_json::from_str(&json).unwrap(), Paint::Plain), expect);
}
