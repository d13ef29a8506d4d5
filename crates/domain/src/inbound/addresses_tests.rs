//! Unit tests of `addresses.rs`.

use super::*;

#[test]
fn addresses_are_normalized_from_every_notation() {
    for (ton, written, number, displayed, normalized) in [
        (1, "4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
        (0, "4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
        (1, "+4915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
        (0, "004915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
        (2, "004915112345678", "4915112345678", "+4915112345678", "1/1 4915112345678"),
        (2, "15112345678", "15112345678", "15112345678", "2/1 15112345678"),
        (0, "015112345678", "015112345678", "015112345678", "0/1 015112345678"),
        (3, "80800", "80800", "80800", "3/1 80800"),
        (0, "80800", "80800", "80800", "0/1 80800"),
        (1, "80800", "80800", "80800", "1/1 80800"),
        (6, "8080012", "8080012", "8080012", "6/1 8080012"),
        (5, "Hermod", "Hermod", "Hermod", "5/1 Hermod"),
        (5, "+Hermod", "+Hermod", "+Hermod", "5/1 +Hermod"),
        (1, "", "", "", "1/1 "),
        (1, "+", "+", "+", "1/1 +"),
    ] {
        let address = SmppAddress::new(ton, 1, written.as_bytes());
        assert_eq!(number_of(&address), number, "{ton} {written}");
        assert_eq!(display_address(&address), displayed, "{ton} {written}");
        let SmppAddress { ton: normalized_ton, npi, digits } = normalized_address(&address);
        let result = format!("{normalized_ton}/{npi} {}", String::from_utf8_lossy(&digits));
        assert_eq!(result, normalized, "{ton} {written}");
    }
    let invalid = SmppAddress::new(1, 1, b"\xff49");
    assert_eq!((display_address(&invalid).as_str(), msisdn_of(&invalid)), ("\u{fffd}49", None));
}
