//! Unit tests of `origin.rs`.

use super::*;

#[test]
fn registered_delivery_is_decoded_by_bits() {
    let table: Vec<String> = [0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x0c, 0xed]
        .into_iter()
        .map(|value| {
            let RegisteredDelivery { success, failure, intermediate } = RegisteredDelivery::from_octet(value);
            let status = [(success, "success"), (failure, "failure"), (intermediate, "intermediate")];
            let status: Vec<&str> = status.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
            format!("{value:#04x} {}", status.join(" "))
        })
        .collect();
    let expect = [
        "0x00 ",
        "0x01 success failure",
        "0x02 failure",
        "0x03 success",
        "0x10 intermediate",
        "0x11 success failure intermediate",
        "0x12 failure intermediate",
        "0x13 success intermediate",
        "0x0c ",
        "0xed success failure",
    ];
    assert_eq!(table, expect);
}

#[test]
fn every_status_has_a_word_a_message_state_and_a_stored_number() {
    let all = [ReportStatus::Enroute, ReportStatus::Accepted]
        .into_iter()
        .chain(DlrCode::ALL.map(ReportStatus::Final));
    let registered_delivery = RegisteredDelivery { success: true, ..RegisteredDelivery::default() };
    let table: Vec<String> = all
        .map(|status| {
            assert_eq!(ReportStatus::from_u8(status.as_u8()), Some(status));
            let state = status.message_state().map_or("-".to_owned(), |state| state.to_string());
            format!("{} {state} {} {}", status.word(), status.as_u8(), registered_delivery.asks_for(status))
        })
        .collect();
    let expect = [
        "ENROUTE 1 101 false",
        "ACCEPTD 6 106 false",
        "DELIVRD 2 2 true",
        "ACCEPTD 6 6 false",
        "UNDELIV 5 5 false",
        "REJECTD 5 8 false",
        "EXPIRED 3 3 false",
        "UNKNOWN - 7 false",
    ];
    assert_eq!(table, expect);
    assert_eq!(ReportStatus::from_u8(0), None);
}

#[test]
fn alias_has_eight_hexadecimal_digits() {
    for (text, expect) in [
        ("10000000", Some("10000000")),
        ("ffffFFFF", Some("FFFFFFFF")),
        ("0FFFFFFF", None),
        ("1000000", None),
        ("100000000", None),
        ("1000000G", None),
        ("+1000000", None),
    ] {
        assert_eq!(Alias::parse(text).map(|alias| alias.to_string()).as_deref(), expect, "{text}");
    }
    assert_eq!(Alias::parse("FFFFFFFF").map(Alias::next), Some(Alias::FIRST));
    assert!(matches!(MessageName::parse("12345678"), Some(MessageName::Alias(_))));
    assert!(matches!(MessageName::parse("123456789012345"), Some(MessageName::Id(_))));
    assert_eq!(MessageName::parse("0123456789"), None);
}

#[test]
fn debug_output_has_neither_addresses_nor_text() {
    let origin = Origin {
        registered_delivery: RegisteredDelivery::from_octet(1),
        short_id: false,
        on_transmitter: true,
        reference: Some(7),
        source: SmppAddress::new(5, 0, b"Hermod"),
        destination: SmppAddress::new(1, 1, b"491701234567"),
        quote: SmallVec::from_slice(b"secret"),
    };
    let printed = format!("{origin:?}");
    assert!(
        !printed.contains("4917") && !printed.contains("secret") && !printed.contains("115"),
        "{printed}"
    );
}
