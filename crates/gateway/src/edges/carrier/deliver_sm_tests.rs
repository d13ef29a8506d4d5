//! Unit tests of `deliver_sm.rs`.

use super::*;
use bytes::BytesMut;
use hermod_smpp::{CommandId, CommandStatus, Tag, TlvBuffer, encode, esm_class, next_frame};

fn frame(pdu: &Pdu<'_>) -> Frame {
    let mut bytes = BytesMut::new();
    encode(pdu, CommandStatus::OK, 7, &mut bytes).unwrap();
    next_frame(&mut bytes, 16_384).unwrap().unwrap()
}

fn deliver_sm(class: u8, text: &'static [u8]) -> DeliverSm<'static> {
    DeliverSm {
        source: Address::international(b"491701234567"),
        esm_class: class,
        short_message: Hidden(text),
        ..DeliverSm::default()
    }
}

fn id_of(record: &ReceiptRecord) -> &[u8] {
    record.remote.as_ref().map_or(b"", RemoteId::octets)
}

fn read(pdu: &Pdu<'_>) -> Incoming {
    read_request(&frame(pdu), ReceiptDialect::Standard, DefaultAlphabet::Gsm, |field| panic!("{field}"))
}

#[track_caller]
fn check_receipt(text: &'static [u8], expect: Option<(&[u8], DeliveryOutcome, u16)>) {
    match read(&Pdu::DeliverSm(deliver_sm(esm_class::RECEIPT, text))) {
        Incoming::Receipt(ReceiptRecord { sequence, remote, verdict, err, .. }) => {
            assert_eq!(sequence, 7);
            assert_eq!(remote.as_ref().map(|remote| (remote.octets(), verdict, err)), expect);
        }
        Incoming::Message(_) | Incoming::Other => panic!("not read as a receipt"),
    }
}

#[test]
fn receipts_are_read_from_their_text() {
    check_receipt(
        b"id:77 sub:001 dlvrd:001 submit date:2611150101 done date:2611150102 stat:DELIVRD err:000 text:",
        Some((b"77", DeliveryOutcome::Delivered, 0)),
    );
    check_receipt(b"id:7A stat:UNDELIV err:012", Some((b"7A", DeliveryOutcome::Undeliverable, 12)));
    check_receipt(b"id:7A stat:BUFFRED", Some((b"7A", DeliveryOutcome::Enroute, 0)));
    check_receipt(b"id:7A stat:WHATEVR", Some((b"7A", DeliveryOutcome::NoChange, 0)));
    check_receipt(b"stat:DELIVRD err:000", None);
}

#[test]
fn receipt_names_the_recipient_and_its_unknown_stat() {
    let actual = |source: &'static [u8], text| {
        let source = Address::international(source);
        match read(&Pdu::DeliverSm(DeliverSm { source, ..deliver_sm(esm_class::RECEIPT, text) })) {
            Incoming::Receipt(ReceiptRecord { source, word, .. }) => {
                (source.map(Msisdn::digits), word.map(String::from))
            }
            Incoming::Message(_) | Incoming::Other => panic!("it is a receipt"),
        }
    };
    let number = Some("491701234567".to_owned());
    assert_eq!(actual(b"491701234567", b"id:7 stat:DELIVRD"), (number.clone(), None));
    assert_eq!(actual(b"+491701234567", b"id:7 stat:UNKNOWN"), (number.clone(), None));
    assert_eq!(actual(b"00491701234567", b"id:7 stat:ODD"), (number, Some("ODD".to_owned())));
    assert_eq!(actual(b"Hermod", b"id:7 stat:DELIVRD"), (None, None));
    assert_eq!(actual(b"\xff", b"id:7 stat:DELIVRD"), (None, None));
}

#[test]
fn receipt_tlvs_take_precedence_over_its_text() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 5);
    let receipt = DeliverSm { tlvs: tlvs.as_tlvs(), ..deliver_sm(esm_class::RECEIPT, b"id:77 stat:DELIVRD") };
    let Incoming::Receipt(record) = read(&Pdu::DeliverSm(receipt)) else { panic!("no receipt") };
    assert_eq!((id_of(&record), record.verdict), (&b"99"[..], DeliveryOutcome::Undeliverable));
}

#[test]
fn message_text_that_looks_like_a_receipt_is_read_as_a_message() {
    let written = deliver_sm(0, b"id:77 stat:DELIVRD");
    assert!(matches!(read(&Pdu::DeliverSm(written)), Incoming::Message(_)));
}

#[test]
fn data_sm_can_be_a_receipt_or_a_message_and_enquire_link_is_neither() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 2);
    let receipt = DataSm { esm_class: esm_class::RECEIPT, tlvs: tlvs.as_tlvs(), ..DataSm::default() };
    let Incoming::Receipt(record) = read(&Pdu::DataSm(receipt)) else { panic!("no receipt") };
    assert_eq!((id_of(&record), record.verdict), (&b"99"[..], DeliveryOutcome::Delivered));

    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, b"id:77 stat:DELIVRD");
    let message = DataSm { tlvs: tlvs.as_tlvs(), ..DataSm::default() };
    assert!(matches!(read(&Pdu::DataSm(message)), Incoming::Message(_)));
    assert!(matches!(read(&Pdu::EnquireLink), Incoming::Other));
}

#[test]
fn data_sm_without_esm_class_and_payload_is_a_receipt_by_its_tlvs() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 2);
    let receipt = DataSm { tlvs: tlvs.as_tlvs(), ..DataSm::default() };
    let Incoming::Receipt(record) = read(&Pdu::DataSm(receipt)) else { panic!("no receipt") };
    assert_eq!((id_of(&record), record.verdict), (&b"99"[..], DeliveryOutcome::Delivered));
    assert!(matches!(read(&Pdu::DataSm(DataSm::default())), Incoming::Other), "no text and no receipt");
}

#[test]
fn receipt_text_in_ucs2_is_read_in_either_order_of_octets() {
    let text = "id:7A sub:001 stat:UNDELIV err:012 text:\u{e9}\u{44f}";
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&[0xFE, 0xFF][..], &big].concat();
    for octets in [big, little, marked] {
        let pdu = DeliverSm {
            esm_class: esm_class::RECEIPT,
            data_coding: 8,
            short_message: Hidden(&octets),
            ..DeliverSm::default()
        };
        let Incoming::Receipt(record) = read(&Pdu::DeliverSm(pdu)) else { panic!("no receipt") };
        let actual = (id_of(&record), record.verdict, record.err);
        assert_eq!(actual, (&b"7A"[..], DeliveryOutcome::Undeliverable, 12));
    }
}

#[test]
fn over_long_deliver_sm_fields_are_cut_and_reported() {
    let mut body = b"SMPPSIM\0\x01\x01491701234567\0\x05\0".to_vec();
    body.extend_from_slice(b"a sender of far too many octets\0");
    body.extend_from_slice(b"\x04\0\0\0\0\0\0\0\0\x12id:7A stat:DELIVRD");
    let frame = frame(&Pdu::Unknown(CommandId::DELIVER_SM, Hidden(&body)));
    let mut cut = None;
    let read =
        read_request(&frame, ReceiptDialect::Standard, DefaultAlphabet::Gsm, |field| cut = Some(field));
    let Incoming::Receipt(record) = read else { panic!("no receipt") };
    assert_eq!(
        (id_of(&record), record.source.map(Msisdn::digits)),
        (&b"7A"[..], Some("491701234567".into()))
    );
    assert_eq!(cut, Some("service_type"));
}

#[test]
fn receipts_are_read_in_the_dialect_of_their_carrier() {
    let commas = Profile { receipts: carrier::ReceiptSyntax::Commas, ..Profile::default() };
    let pdu = Pdu::DeliverSm(deliver_sm(esm_class::RECEIPT, b"7A,UNDELIV,012,2611150101,2611150102"));
    let read = |dialect| read_request(&frame(&pdu), dialect, DefaultAlphabet::Gsm, |_| ());
    let Incoming::Receipt(record) = read(dialect(&commas)) else { panic!("no receipt") };
    assert_eq!(
        (id_of(&record), record.verdict, record.err),
        (&b"7A"[..], DeliveryOutcome::Undeliverable, 12)
    );
    let Incoming::Receipt(standard) = read(dialect(&Profile::default())) else { panic!("no receipt") };
    assert_eq!(standard.remote, None);
}
