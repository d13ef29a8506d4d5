//! Unit tests of `mo_pdu.rs`.

use super::*;
use hermod_domain::inbound::MoContent;

fn message(form: MoEncoding, text: &str, header: &[u8]) -> MoMessage {
    MoMessage {
        id: 0x0102_0304,
        source: SmppAddress::new(1, 1, b"4915112345678"),
        destination: SmppAddress::new(3, 0, b"80800"),
        whole: MoContent { text: text.to_owned(), form, header: header.into() },
    }
}

fn access(alphabet: CodingZero, inbound: InboundForm) -> SmppAccess {
    SmppAccess { alphabet, inbound, ..SmppAccess::new("shop", "") }
}

/// `esm_class`, `data_coding` and what each PDU holds.
fn brought(message: &MoMessage, access: &SmppAccess, is_3_4: bool) -> Option<Vec<(u8, u8, Vec<u8>)>> {
    let drafted = MoDraft::of(message, access, is_3_4)?;
    let mut tlvs = TlvBuffer::new();
    let each = (0..drafted.pdus()).map(|place| {
        let Some(Pdu::DeliverSm(pdu)) = drafted.deliver_sm(place, &mut tlvs) else { panic!("a deliver_sm") };
        assert_eq!(pdu.source, Address::international(b"4915112345678"));
        assert_eq!(pdu.destination, Address::new(3, 0, b"80800"));
        assert_eq!([pdu.protocol_id, pdu.priority_flag, pdu.registered_delivery], [0; 3]);
        assert!(is_3_4 || pdu.tlvs.is_empty(), "3.3 has no parameters");
        (pdu.esm_class, pdu.data_coding, pdu.text().to_vec())
    });
    let each = each.collect();
    assert!(drafted.deliver_sm(usize::MAX, &mut TlvBuffer::new()).is_none() || drafted.pdus() == 1);
    Some(each)
}

#[track_caller]
fn check(form: MoEncoding, text: &str, zero: CodingZero, data_coding: u8, octets: &[u8]) {
    let found = brought(&message(form, text, &[]), &access(zero, InboundForm::Parts), true);
    assert_eq!(found, Some(vec![(0, data_coding, octets.to_vec())]), "{text} {zero:?}");
}

#[test]
fn text_keeps_its_alphabet_if_the_connection_can_read_it() {
    use CodingZero::{Ascii, Gsm, Latin1, Utf8};
    check(MoEncoding::SingleByte, "@ €", Gsm, 0, b"\x00 \x1b\x65");
    check(MoEncoding::SingleByte, "@ a", Ascii, 0, b"@ a");
    check(MoEncoding::SingleByte, "@ é", Latin1, 0, b"@ \xe9");
    check(MoEncoding::SingleByte, "é", Utf8, 0, "é".as_bytes());
    check(MoEncoding::SingleByte, "é", Ascii, 8, b"\x00\xe9");
    check(MoEncoding::SingleByte, "€", Latin1, 8, b"\x20\xac");
    check(MoEncoding::SingleByte, "ç", Gsm, 8, b"\x00\xe7");
    check(MoEncoding::Ucs2, "a", Gsm, 8, b"\x00a");
    check(MoEncoding::Ucs2, "Ж😀", Gsm, 8, b"\x04\x16\xd8\x3d\xde\x00");
    check(MoEncoding::Octets { data_coding: 4 }, "00ff", Gsm, 4, b"\x00\xff");
    check(MoEncoding::Octets { data_coding: 0xf5 }, "1b", Utf8, 0xf5, b"\x1b");
    check(MoEncoding::SingleByte, "", Gsm, 0, b"");
    check(MoEncoding::SingleByte, &"x".repeat(160), Gsm, 0, &[b'x'; 160]);
}

#[test]
fn long_message_is_split_without_cutting_a_character() {
    let lengths = |form, text: &str, header: &[u8]| -> Vec<usize> {
        let parts =
            brought(&message(form, text, header), &access(CodingZero::Gsm, InboundForm::Parts), false);
        parts.unwrap().into_iter().map(|(_, _, octets)| octets.len()).collect()
    };
    assert_eq!(lengths(MoEncoding::SingleByte, &"x".repeat(161), &[]), [6 + 153, 6 + 8]);
    assert_eq!(lengths(MoEncoding::SingleByte, &format!("{}€€€€€", "x".repeat(152)), &[]), [6 + 152, 6 + 10]);
    assert_eq!(lengths(MoEncoding::Ucs2, &"Ж".repeat(71), &[]), [6 + 134, 6 + 8]);
    assert_eq!(lengths(MoEncoding::Ucs2, &format!("{}😀😀😀", "Ж".repeat(66)), &[]), [6 + 132, 6 + 12]);
    assert_eq!(lengths(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(141), &[]), [6 + 134, 6 + 7]);
    assert_eq!(
        lengths(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(134), &[5, 4, 0, 1, 0, 2]),
        [12 + 128, 12 + 6]
    );
    let parts = brought(
        &message(MoEncoding::SingleByte, &"x".repeat(161), &[]),
        &access(CodingZero::Gsm, InboundForm::None),
        true,
    );
    let headers: Vec<_> =
        parts.unwrap().into_iter().map(|(class, _, it)| (class, it[..6].to_vec())).collect();
    assert_eq!(headers, [(0x40, vec![5, 0, 3, 4, 2, 1]), (0x40, vec![5, 0, 3, 4, 2, 2])]);
}

#[test]
fn long_message_is_one_payload_if_configured_and_the_bind_is_3_4() {
    let payload = access(CodingZero::Gsm, InboundForm::Payload);
    let long = message(MoEncoding::SingleByte, &"x".repeat(400), &[]);
    assert_eq!(brought(&long, &payload, true), Some(vec![(0, 0, vec![b'x'; 400])]));
    assert_eq!(brought(&long, &payload, false).unwrap().len(), 3);
    assert_eq!(
        brought(&message(MoEncoding::SingleByte, "hi", &[]), &payload, true),
        Some(vec![(0, 0, b"hi".to_vec())])
    );
    let ported = message(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(200), &[5, 4, 0, 1, 0, 2]);
    let found = brought(&ported, &payload, true).unwrap();
    assert_eq!((found.len(), found[0].0, &found[0].2[..8]), (1, 0x40, &[6, 5, 4, 0, 1, 0, 2, 0xab][..]));
}

#[test]
fn user_data_header_of_the_handset_is_kept() {
    let found = brought(
        &message(MoEncoding::Octets { data_coding: 4 }, "cafe", &[5, 4, 0, 1, 0, 2]),
        &access(CodingZero::Gsm, InboundForm::Parts),
        true,
    );
    assert_eq!(found, Some(vec![(0x40, 4, vec![6, 5, 4, 0, 1, 0, 2, 0xca, 0xfe])]));
    let huge = message(MoEncoding::SingleByte, "text", &[0x70; 100]);
    let found = brought(&huge, &access(CodingZero::Gsm, InboundForm::Parts), true);
    assert_eq!(found, Some(vec![(0, 0, b"text".to_vec())]), "a header that is too long is dropped");
}

#[test]
fn message_of_more_than_255_parts_needs_a_payload_or_is_not_encoded() {
    let parts = access(CodingZero::Gsm, InboundForm::Parts);
    let many = message(MoEncoding::Ucs2, &"Ж".repeat(67 * 255 + 1), &[]);
    assert_eq!(brought(&many, &parts, true).unwrap().len(), 1);
    assert_eq!(brought(&many, &parts, false), None);
    let most = message(MoEncoding::Ucs2, &"Ж".repeat(67 * 255), &[]);
    assert_eq!(brought(&most, &parts, false).unwrap().len(), 255);
    assert_eq!(brought(&message(MoEncoding::Ucs2, &"Ж".repeat(33_000), &[]), &parts, true), None);
    assert_eq!(brought(&message(MoEncoding::Octets { data_coding: 4 }, "xyz", &[]), &parts, true), None);
}
