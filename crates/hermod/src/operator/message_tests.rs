//! Unit tests of `message.rs`.

use super::*;

#[test]
fn message_is_shown_with_its_timeline() {
    let json = r#"{"id": "15526526976000001", "account": "shop", "connection": "shop-http", "from": "Shop",
            "to": "+4915112345678", "country": "DE", "network": "262-01", "carrier": "acme", "encoding": "gsm7", "parts": 1,
            "state": "delivered", "code": "DELIVRD", "err": 0, "cost": 0.05, "refund": null, "currency": "EUR",
            "accepted_at": "2026-11-16T12:00:00Z", "ended_at": "2026-11-16T12:00:01Z", "took_ms": 1204, "charged_parts": 1,
            "balance": 9.95,
            "costs": {"items": [{"carrier": "beta", "per_part": 0.06, "currency": "USD", "basis": "delivered", "entry": null, "due_parts": 0,
              "due": 0}, {"carrier": "acme", "per_part": 0.02, "currency": "EUR", "basis": "submit", "entry": "acme/49", "due_parts": 2,
              "due": 0.04}], "margin": 0.01}, "request": "req-1", "route": "49", "choice": "only", "why": "The route has no other carrier.",
            "carriers": [{"carrier": "acme", "cost": 0.04, "margin": 0.01, "excluded": null},
              {"carrier": "beta", "cost": null, "margin": null, "excluded": "unknown-cost"}],
            "timeline": [
              {"step": "accepted", "at_ms": 0, "cost": 0.05, "balance": 9.95, "route": "49", "choice": "only",
               "encoding": "gsm7", "parts": 1},
              {"step": "sent", "at_ms": 14, "part": 1, "carrier": "acme", "link": 3},
              {"step": "carrier_accepted", "at_ms": 40, "part": 1, "carrier": "acme", "carrier_id": "7f3a", "status": "ESME_ROK"},
              {"step": "failed_over", "at_ms": 41, "from_carrier": "beta", "carrier": "acme"},
              {"step": "receipt", "at_ms": 1204, "part": 1, "carrier": "acme", "state": "delivered",
               "words": "stat:DELIVRD err:000", "err": 0}],
            "record": {"lag_ms": 3000, "catching_up": 0}}"#;
    let text = detail_text(&serde_json::from_str(json).unwrap(), &serde_json::from_str(json).unwrap());
    for expect in [
        "Message 15526526976000001\n  account          shop\n",
        "  network          DE 262-01\n",
        "  took             1.2 s\n",
        "  price            0.05 EUR\n",
        "  balance after    9.95 EUR\n",
        "  due to carriers  0 USD (beta: 0 x 0.06 USD per part delivered); 0.04 EUR (acme: 2 x 0.02 EUR per part submitted, acme/49)\n",
        "  margin           0.01 EUR\n",
        "CARRIER  COST  MARGIN  LEFT OUT\nacme     0.04    0.01\nbeta                   unknown cost\n\n",
        "AFTER  STEP              PART  WHAT\n",
        " 0 ms  accepted                cost 0.05, balance 9.95, route 49, parts 1, gsm7\n",
        "14 ms  sent               1/1  acme, link 3\n",
        "40 ms  carrier accepted   1/1  acme, id 7f3a, status ESME_ROK\n",
        "41 ms  failed over             from beta, to acme\n",
        "1.2 s  receipt            1/1  acme, delivered, \"stat:DELIVRD err:000\"\n",
        "The record is 3.0 s behind",
    ] {
        assert!(text.contains(expect), "{expect:?} is not in\n{text}");
    }
}
