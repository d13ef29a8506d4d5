//! Unit tests of `receipt.rs`.

use super::*;
use crate::TlvBuffer;

fn check(class: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
    check_in(ReceiptDialect::Standard, class, text, tlvs, expect);
}

fn check_in(dialect: ReceiptDialect, class: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
    let deliver_sm = DeliverSm {
        esm_class: class,
        short_message: Hidden(text),
        tlvs: tlvs.as_tlvs(),
        ..DeliverSm::default()
    };
    let result = match read_receipt(&deliver_sm, dialect) {
        None => "message".into(),
        Some(r) => format!(
            "{:?} id={} state={:?} stat={} error={:?}",
            r.kind,
            r.message_id.unwrap_or(b"-").escape_ascii(),
            r.message_state,
            r.stat.unwrap_or(b"-").escape_ascii(),
            r.network_error.map(|e| (e.network, e.code)),
        ),
    };
    assert_eq!(result, expect);
}

#[test]
fn tlvs_take_precedence_and_text_alone_is_enough() {
    let text = b"id:9 stat:DELIVRD err:000";
    let none = TlvBuffer::new();
    check(0x04, text, &none, "Delivery id=9 state=None stat=DELIVRD error=None");

    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab").push_u8(Tag::MESSAGE_STATE, 2);
    tlvs.push(Tag::NETWORK_ERROR_CODE, &NetworkError { network: 3, code: 11 }.to_bytes());
    check(0x04, text, &tlvs, "Delivery id=ab state=Some(2) stat=DELIVRD error=Some((3, 11))");
    check(0x04, b"", &tlvs, "Delivery id=ab state=Some(2) stat=- error=Some((3, 11))");
    check(0x00, b"", &tlvs, "Delivery id=ab state=Some(2) stat=- error=Some((3, 11))");
    check(0x20, text, &tlvs, "Intermediate id=ab state=Some(2) stat=DELIVRD error=Some((3, 11))");

    let mut odd = TlvBuffer::new();
    odd.push(Tag::RECEIPTED_MESSAGE_ID, b"no-null").push(Tag::MESSAGE_STATE, &[0, 2]);
    odd.push(Tag::NETWORK_ERROR_CODE, &[3]);
    check(0x04, text, &odd, "Delivery id=no-null state=None stat=DELIVRD error=None");
}

#[test]
fn receipt_is_read_from_the_payload() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, b"id:5 stat:EXPIRED");
    check(0x44, b"", &tlvs, "Delivery id=5 state=None stat=EXPIRED error=None");
}

#[test]
fn receipt_is_read_from_a_data_sm() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab").push_u8(Tag::MESSAGE_STATE, 5);
    let data_sm = DataSm { esm_class: 0x04, tlvs: tlvs.as_tlvs(), ..DataSm::default() };
    let receipt = read_data_sm_receipt(&data_sm, ReceiptDialect::Standard).unwrap();
    assert_eq!((receipt.message_id, receipt.message_state), (Some(&b"ab"[..]), Some(5)));
    assert_eq!(read_data_sm_receipt(&DataSm::default(), ReceiptDialect::Standard), None);
}

#[test]
fn positional_dialect_is_read_and_tlvs_take_precedence() {
    let dialect = ReceiptDialect::Commas;
    let mut tlvs = TlvBuffer::new();
    check_in(dialect, 0x04, b"9,EXPIRED,012", &tlvs, "Delivery id=9 state=None stat=EXPIRED error=None");
    check_in(dialect, 0x04, b",", &tlvs, "Delivery id=- state=None stat=- error=None");
    check_in(dialect, 0x00, b"9,EXPIRED,012", &tlvs, "message");
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab");
    check_in(dialect, 0x04, b"9,EXPIRED,012", &tlvs, "Delivery id=ab state=None stat=EXPIRED error=None");
}

#[test]
fn mo_message_is_never_a_receipt() {
    let none = TlvBuffer::new();
    check(0x00, b"id:9 sub:001 dlvrd:001 stat:DELIVRD", &none, "message");
    check(0x40, b"id:9 stat:DELIVRD", &none, "message");
    check(0x08, b"id:9 stat:DELIVRD", &none, "message");
}
