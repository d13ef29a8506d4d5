//! Unit tests of `carrier_test.rs`.

use super::*;

#[test]
fn test_is_printed_line_by_line() {
    let tested = r#"{"carrier": "acme", "step": "bind", "accepted": false, "outcome": "the password is wrong", "lines": [
            {"at_ms": 3, "way": null, "line": "connected to 127.0.0.1:2775, plain"},
            {"at_ms": 1004, "way": "out", "line": "bind_transceiver seq=1"},
            {"at_ms": 61005, "way": "in", "line": "bind_transceiver_resp seq=1 status=0x0E"}]}"#;
    let expect = "  0.003     connected to 127.0.0.1:2775, plain\n  1.004  -> bind_transceiver seq=1\n \
                  61.005  <- bind_transceiver_resp seq=1 status=0x0E\n\n\
                  The test failed at the step \"bind\": the password is wrong\n";
    assert_eq!(test_text(&serde_json::from_str(tested).unwrap()), expect);
}
