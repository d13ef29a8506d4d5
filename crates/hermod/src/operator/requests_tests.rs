//! Unit tests of `requests.rs`.

use super::*;

#[test]
fn groups_say_how_often_why_and_what_to_do() {
    let json = r#"{"since": "2026-11-15T12:00:00Z", "until": "2026-11-16T12:00:00Z", "items": [{"code": "ESME_RBINDFAIL",
            "count": 12, "what_to_do": "Add the address.", "last": {"at": "2026-11-16T11:59:00Z", "account": "shop",
            "connection": "shop-smpp", "kind": "bind", "operation": "bind_transceiver", "who": "shop1", "address": "192.0.2.7",
            "status": 13, "code": "ESME_RBINDFAIL", "reason": "address not allowed", "took_ms": 3, "request": null,
            "replay": "no", "message_id": null}}], "record": {"lag_ms": 0, "catching_up": 0}}"#;
    let expect = "\
ESME_RBINDFAIL, 12 times
    last 2026-11-16T11:59:00Z by shop from 192.0.2.7: bind_transceiver: address not allowed
    Add the address.

From 2026-11-15T12:00:00Z to 2026-11-16T12:00:00Z.
";
    assert_eq!(groups_text(&serde_json::from_str(json).unwrap()), expect);
}
