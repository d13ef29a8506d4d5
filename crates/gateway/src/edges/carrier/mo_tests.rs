//! Unit tests of `mo.rs`.

use super::*;
use hermod_smpp::{Hidden, TlvBuffer};

const UDHI: u8 = esm_class::UDHI;

fn shown(part: &InboundPart) -> String {
    let joined = part.concat.map(|it| format!("{} {}/{} ", it.reference, it.part, it.total));
    let MoSegment { alphabet, header, octets, .. } = &part.segment;
    format!("{}{alphabet:?} {header:02x?} {}", joined.unwrap_or_default(), octets.escape_ascii())
}

#[track_caller]
fn check(class: u8, data_coding: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
    let pdu = DeliverSm {
        source: Address::international(b"4915112345678"),
        destination: Address::new(3, 0, b"80800"),
        esm_class: class,
        data_coding,
        short_message: Hidden(text),
        tlvs: tlvs.as_tlvs(),
        ..DeliverSm::default()
    };
    let part = of_deliver_sm(&pdu, DefaultAlphabet::Gsm);
    assert_eq!(shown(&part), expect);
    assert_eq!(part.source, SmppAddress::new(1, 1, b"4915112345678"));
    assert_eq!(part.destination, SmppAddress::new(3, 0, b"80800"));
}

#[test]
fn concatenation_is_read_from_the_header_or_the_sar_parameters() {
    let none = TlvBuffer::new();
    check(0, 0, b"hello", &none, "Gsm [] hello");
    check(0, 8, b"\x04\x16", &none, "Ucs2 [] \\x04\\x16");
    check(UDHI, 0, b"\x05\x00\x03\x07\x02\x01hi", &none, "7 1/2 Gsm [] hi");
    check(UDHI, 0, b"\x06\x08\x04\x12\x34\x03\x03hi", &none, "4660 3/3 Gsm [] hi");
    // Other elements before, or instead.
    let ports = b"\x0b\x05\x04\x0b\x84\x23\xf0\x00\x03\x01\x02\x02x";
    check(UDHI, 4, ports, &none, "1 2/2 Octets [05, 04, 0b, 84, 23, f0] x");
    check(UDHI, 0, b"\x03\x24\x01\x05text", &none, "Octets [24, 01, 05] text");
    check(UDHI, 0, b"\x03\x25\x01\x01text", &none, "Octets [25, 01, 01] text");
    check(UDHI, 8, b"\x03\x24\x01\x01\x04\x16", &none, "Ucs2 [24, 01, 01] \\x04\\x16");
    check(UDHI, 0, b"\x05\x00\x03\x07\x01\x01one", &none, "Gsm [] one");
    check(UDHI, 0, b"\x05\x00\x03\x07\x02\x09odd", &none, "Gsm [] odd");
    // Not marked as a header: it is text that looks like one.
    check(0, 4, b"\x05\x00\x03\x07\x02\x01hi", &none, "Octets [] \\x05\\x00\\x03\\x07\\x02\\x01hi");
    check(UDHI, 0, b"\xffbroken", &none, "Octets [] \\xffbroken");
    let mut sar = TlvBuffer::new();
    sar.push_sar(Concatenation { reference: 300, total: 3, part: 2 });
    check(0, 0, b"sar", &sar, "300 2/3 Gsm [] sar");
    check(UDHI, 0, b"\x03\x24\x01\x05both", &sar, "300 2/3 Octets [24, 01, 05] both");
    let mut odd = TlvBuffer::new();
    odd.push_sar(Concatenation { reference: 300, total: 3, part: 4 });
    check(0, 0, b"sar", &odd, "Gsm [] sar");
}

#[test]
fn text_is_read_from_message_payload_and_from_data_sm() {
    let mut payload = TlvBuffer::new();
    payload.push(Tag::MESSAGE_PAYLOAD, b"long").push_u16(Tag::USER_MESSAGE_REFERENCE, 9);
    check(0, 0, b"", &payload, "Gsm [] long");
    let pdu = DataSm { data_coding: 0, tlvs: payload.as_tlvs(), ..DataSm::default() };
    let part = of_data_sm(&pdu, DefaultAlphabet::Latin1);
    assert_eq!((shown(&part).as_str(), part.reference), ("Latin1 [] long", Some(9)));
}
