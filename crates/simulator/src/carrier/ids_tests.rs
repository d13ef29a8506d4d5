//! Unit tests of `ids.rs`.

use super::*;

#[track_caller]
fn check(format: &IdFormat, response: &str, receipt: &str) {
    let number = 0x812F_C747_0000_001B;
    assert_eq!(
        (format.in_response(number).as_str(), format.in_receipt(number).as_str()),
        (response, receipt)
    );
}

#[test]
fn ids_follow_the_style_of_responses_and_receipts() {
    check(&IdFormat::new(IdStyle::Decimal), "9308878062554710043", "9308878062554710043");
    check(&IdFormat::new(IdStyle::Hex), "812fc7470000001b", "812fc7470000001b");
    check(&IdFormat::new(IdStyle::UpperHex), "812FC7470000001B", "812FC7470000001B");
    let mixed = IdFormat { response: IdStyle::UpperHex, receipt: IdStyle::Decimal, prefix: "x-".to_owned() };
    check(&mixed, "x-812FC7470000001B", "x-9308878062554710043");
    let zeros = IdFormat::each(IdStyle::ZeroDecimal(20), IdStyle::ZeroHex(18));
    check(&zeros, "09308878062554710043", "00812FC7470000001B");
}

#[test]
fn uuids_are_well_formed_and_unique() {
    let ids: std::collections::HashSet<String> = (0..1000).map(uuid).collect();
    assert_eq!(ids.len(), 1000);
    for id in ids {
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
    }
    let format = IdFormat::each(IdStyle::Uuid, IdStyle::UpperUuid);
    assert_eq!(format.in_response(7).to_ascii_uppercase(), format.in_receipt(7));
}

#[test]
fn ids_with_a_long_prefix_fit_into_64_octets() {
    let prefix = "ä".repeat(9) + &"p".repeat(99);
    for style in [IdStyle::Uuid, IdStyle::ZeroDecimal(255), IdStyle::Hex] {
        let id = IdFormat { prefix: prefix.clone(), ..IdFormat::new(style) }.in_response(u64::MAX);
        assert!(id.is_ascii() && id.len() <= 64, "{id}");
    }
}
