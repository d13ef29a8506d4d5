//! Unit tests of `binds.rs`.

use super::*;

#[test]
fn bind_is_named_by_number_and_node() {
    let of = |node: Option<&str>, number| Ok(BindName { node: node.map(str::to_owned), number });
    assert_eq!("7".parse(), of(None, 7));
    assert_eq!("b/7".parse(), of(Some("b"), 7));
    assert!("b/x".parse::<BindName>().unwrap_err().contains("b/7"));
}

#[test]
fn last_error_of_a_bind_is_printed_below_the_table() {
    let seen = r#"{"at": "2026-06-15T12:00:00Z", "items": [
            {"number": 7, "system_id": "shop", "account": "shop", "address": "192.0.2.7", "type": "transceiver", "version": "3.4",
             "tls": true, "address_range": "", "since": "x", "for_s": 7200, "window": 10, "window_in": 3, "window_out": 1,
             "submits_per_second": 12.5, "submits": 4000, "refused": 2, "receipts": 3990, "receipts_waiting": 8,
             "last_error": {"at": "2026-06-15T11:59:57Z", "text": "throttled\u001b"}},
            {"number": 12, "system_id": "bakery", "account": "bakery", "address": "2001:db8::1", "type": "receiver", "version": "3.3",
             "tls": false, "address_range": "", "since": "x", "for_s": 3, "window": 50, "window_in": 0, "window_out": 0,
             "submits_per_second": 0.0, "submits": 0, "refused": 0, "receipts": 1, "receipts_waiting": 0, "last_error": null}]}"#;
    let expect = "\
BIND  SYSTEM ID  ACCOUNT  ADDRESS      TYPE         SMPP  TLS  FOR    IN   OUT  PER S  SUBMITS  REFUSED  RECEIPTS  WAITING
   7  shop       shop     192.0.2.7    transceiver  3.4   yes   2h  3/10  1/10   12.5     4000        2      3990        8
  12  bakery     bakery   2001:db8::1  receiver     3.3         3s  0/50  0/50    0.0        0        0         1        0

shop 7: throttled\\u{1b} (2026-06-15T11:59:57Z)

As of 2026-06-15T12:00:00Z.
";
    assert_eq!(binds_text(&serde_json::from_str(seen).unwrap()), expect);
}
