//! Unit tests of `tables.rs`.

use super::super::list::table;
use super::*;

#[test]
fn bars_are_relative_to_the_largest_count() {
    assert_eq!(bars(&[]), "");
    assert_eq!(bars(&[0, 0]), "");
    assert_eq!(bars(&[8, 4, 1, 0, 16]), "▄▂▁·█");
    assert_eq!(bars(&[u64::MAX, 1]), "█▁");
}

#[test]
fn delivery_statistics_leave_out_empty_columns() {
    let json = r#"[{"carrier": "acme", "country": "DE", "country_name": "Germany", "network": "262-01", "operator": "Telekom",
             "sent": 1000, "delivered": 950, "failed": 40, "expired": 0, "rejected": 0, "open": 10, "delivery_ratio": 0.959,
             "mean_seconds": 4.2, "times": [{"within": "5s", "parts": 900}, {"within": null, "parts": 50}]}]"#;
    let items: Vec<DeliveryView> = serde_json::from_str(json).unwrap();
    let expect = "\
CARRIER  COUNTRY  NETWORK  OPERATOR  SENT  DELIVERED  FAILED  OPEN  MEAN  TIMES
acme     DE       262-01   Telekom   1000      95.9%      40    10  4.2s  █▁
";
    assert_eq!(table(&items), expect);
}

#[test]
fn limits_are_printed_as_text() {
    for (entry, expect) in [
        (json!({ "spend_per_day": "50" }), "spend 50 per day"),
        (json!({ "messages_per_day": 7 }), "7 messages per day"),
        (json!({ "per_recipient": { "most": 20, "per": "1h" } }), "one number: 20 per 1h"),
        (json!({ "per_range": { "most": 200, "per": "10m" } }), "one range: 200 per 10m"),
        (json!({ "per_country": { "most": 50, "per": "1h" } }), "one country: 50 per 1h"),
        (
            json!({ "per_country": { "most": 50, "per": "1h", "except": ["DE", "AT"] } }),
            "one country except DE, AT: 50 per 1h",
        ),
    ] {
        assert_eq!(limit(&entry), expect);
    }
}
