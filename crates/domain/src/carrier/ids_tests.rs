//! Unit tests of `ids.rs`.

use super::*;
use proptest::prelude::*;

fn id(text: &str) -> RemoteId {
    RemoteId::from_text(text).unwrap()
}

/// Whether the ids match, by key or by converted key.
fn matches(conversion: IdConversion, response: &str, receipt: &str) -> bool {
    let stored = RemoteKey::of(&id(response));
    stored == RemoteKey::of(&id(receipt)) || conversion.key_in_response(&id(receipt)) == Some(stored)
}

#[test]
fn ids_match_in_spite_of_case_zeros_and_notation() {
    for (conversion, response, receipt, expect) in [
        (IdConversion::None, "77", "77", true),
        (IdConversion::None, "0a1B", "0A1B", true),
        (IdConversion::None, "0000077", "77", true),
        (IdConversion::None, "77", "0000077", true),
        (IdConversion::None, "000", "0", true),
        (IdConversion::None, "77", "78", false),
        (IdConversion::None, "1B", "27", false),
        (IdConversion::HexToDecimal, "812FC7470000001B", "9308878062554710043", true),
        (IdConversion::HexToDecimal, "812fc7470000001b", "09308878062554710043", true),
        (IdConversion::HexToDecimal, "1b", "1B", true),
        (IdConversion::HexToDecimal, "1b", "27", true),
        (IdConversion::HexToDecimal, "1b", "28", false),
        (IdConversion::DecimalToHex, "9308878062554710043", "812fc7470000001b", true),
        (IdConversion::DecimalToHex, "27", "1b", true),
        (IdConversion::DecimalToHex, "27", "-1b", false),
        (IdConversion::HexToDecimal, "a3f0c2de-1111", "a3f0c2de-1111", true),
    ] {
        assert_eq!(matches(conversion, response, receipt), expect, "{conversion:?} {response} {receipt}");
    }
}

#[test]
fn non_numeric_id_is_not_converted() {
    for text in ["", "+5", "-5", "0x1b", "g", "ffffffffffffffffffffffffffffffff0", "\u{e9}"] {
        let Ok(id) = RemoteId::from_text(text) else { continue };
        assert_eq!(IdConversion::DecimalToHex.key_in_response(&id), None, "{text}");
    }
}

proptest! {
    #[test]
    fn both_directions_of_conversion_agree(number in any::<u128>(), upper in any::<bool>()) {
        let hex = if upper { format!("{number:X}") } else { format!("{number:x}") };
        let (hex, decimal) = (id(&hex), id(&number.to_string()));
        let there = IdConversion::HexToDecimal;
        prop_assert_eq!(there.key_in_response(&decimal), Some(RemoteKey::of(&hex)));
        prop_assert_eq!(there.key_in_receipt(&hex), Some(RemoteKey::of(&decimal)));
        let back = IdConversion::DecimalToHex;
        prop_assert_eq!(back.key_in_response(&hex), Some(RemoteKey::of(&decimal)));
        prop_assert_eq!(back.key_in_receipt(&decimal), Some(RemoteKey::of(&hex)));
    }
}
