//! Unit tests of `test_bind.rs`.

use super::*;

#[test]
fn text_is_encoded_as_ascii_or_ucs2_and_limited_to_one_part() {
    let encoded = |text: &str| Text::of(text).map(|text| (text.coding, text.octets)).ok();
    assert_eq!(encoded("a@b"), Some((1, b"a@b".to_vec())));
    assert_eq!(encoded("\u{20ac}"), Some((8, vec![0x20, 0xac])));
    assert_eq!(encoded(&"a".repeat(160)).map(|(coding, _)| coding), Some(1));
    assert_eq!(encoded(&"a".repeat(161)), None);
    assert_eq!(encoded(&"\u{e9}".repeat(71)), None);
}

#[test]
fn every_code_a_bind_can_get_from_us_is_explained() {
    let unknown = explanations::of_bind(CommandStatus(0x0400));
    for code in [0x04, 0x05, 0x08, 0x0D, 0x0E, 0x0F, 0x53] {
        assert_ne!(explanations::of_bind(CommandStatus(code)), unknown, "{code:#x}");
    }
}
