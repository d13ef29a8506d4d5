//! Unit tests of `receipt.rs`.

use super::*;
use crate::carrier::ids::IdStyle;

fn receipt(outcome: Outcome) -> PendingReceipt {
    PendingReceipt {
        id: 0x1f,
        ids: Arc::new(IdFormat::each(IdStyle::Hex, IdStyle::Decimal)),
        format: Arc::new(ReceiptFormat::standard()),
        outcome,
        error_code: if outcome == Outcome::Delivered { 0 } else { 11 },
        message_source: StoredAddress::new(&Address::alphanumeric(b"Hermod")),
        message_destination: StoredAddress::new(&Address::international(b"4915112345678")),
        submitted: Timestamp::from_millis(1_709_164_799_000),
        user_message_reference: Some(7),
        link: 1,
        via: ReceiptLink::Any,
        malformed: false,
    }
}

#[track_caller]
fn check(outcome: Outcome, expect_class: u8, expect_text: &str) {
    let receipt = receipt(outcome);
    let mut writer = ReceiptWriter::default();
    for tlvs in [TlvSupport::Yes, TlvSupport::No] {
        let (id, pdu) = writer.write(&receipt, tlvs, Timestamp::from_millis(1_709_164_860_000));
        let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
        assert_eq!(id, "31");
        assert_eq!(pdu.esm_class, expect_class);
        assert_eq!(std::str::from_utf8(&pdu.short_message).unwrap(), expect_text);
        assert_eq!(pdu.source, Address::international(b"4915112345678"));
        assert_eq!(pdu.destination, Address::alphanumeric(b"Hermod"));
        assert_eq!(pdu.tlvs.is_empty(), tlvs == TlvSupport::No);
    }
}

#[test]
fn receipt_text_follows_appendix_b() {
    let dates = "submit date:2402282359 done date:2402290001";
    let delivered = format!("id:31 sub:001 dlvrd:001 {dates} stat:DELIVRD err:000 text:");
    check(Outcome::Delivered, 0x04, &delivered);
    let failed = format!("id:31 sub:001 dlvrd:000 {dates} stat:UNDELIV err:011 text:");
    check(Outcome::Undeliverable, 0x04, &failed);
    let enroute = format!("id:31 sub:001 dlvrd:000 {dates} stat:ENROUTE err:011 text:");
    check(Outcome::Enroute, 0x20, &enroute);
}

#[test]
fn tlvs_repeat_the_text() {
    let receipt = receipt(Outcome::Undeliverable);
    let mut writer = ReceiptWriter::default();
    let (_, pdu) = writer.write(&receipt, TlvSupport::Yes, receipt.submitted);
    let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
    assert_eq!(pdu.tlvs.get_text(Tag::RECEIPTED_MESSAGE_ID), Some(&b"31"[..]));
    assert_eq!(pdu.tlvs.get_u8(Tag::MESSAGE_STATE), Some(5));
    assert_eq!(pdu.tlvs.get(Tag::NETWORK_ERROR_CODE), Some(&[3, 0, 11][..]));
    assert_eq!(pdu.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE), Some(7));
}

#[test]
fn text_in_payload_or_data_sm_becomes_short_message_for_smpp_3_3() {
    let standard =
        "id:31 sub:001 dlvrd:001 submit date:2402282359 done date:2402282359 stat:DELIVRD err:000 text:";
    let formats =
        [ReceiptFormat::in_payload(), ReceiptFormat::text_only().by_data_sm(), ReceiptFormat::text_only()];
    for (format, expect) in formats.into_iter().zip(["deliver_sm", "data_sm", "deliver_sm"]) {
        let receipt = PendingReceipt { format: Arc::new(format), ..receipt(Outcome::Delivered) };
        let mut writer = ReceiptWriter::default();
        let (_, pdu) = writer.write(&receipt, TlvSupport::Yes, receipt.submitted);
        let (name, text) = match pdu {
            Pdu::DeliverSm(pdu) => ("deliver_sm", pdu.text()),
            Pdu::DataSm(pdu) => ("data_sm", pdu.text()),
            other => panic!("{other:?} is no receipt"),
        };
        assert_eq!((name, std::str::from_utf8(&text).unwrap()), (expect, standard));
        let (_, pdu) = writer.write(&receipt, TlvSupport::No, receipt.submitted);
        let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
        assert!(pdu.tlvs.is_empty() && &*pdu.short_message == standard.as_bytes());
    }
}

#[test]
fn stored_address_equals_the_original() {
    for value in [&b""[..], b"1", b"12345678901234567890"] {
        let address = Address::new(3, 9, value);
        assert_eq!(StoredAddress::new(&address).address(), address);
    }
}
