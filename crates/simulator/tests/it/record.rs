//! The record: every octet of a submit, and joined texts of split messages.

use hermod_simulator::carrier::{CodingZeroAlphabet, PartNumber, Script};
use hermod_smpp::{Address, Hidden, SubmitSm, Tag, TlvBuffer};

use crate::esme::Esme;
use crate::helpers::carrier;

#[tokio::test]
async fn record_keeps_every_field_and_octet_of_a_submit() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, 0x0102).push(Tag(0x1500), b"own");
    let submit = SubmitSm {
        service_type: b"WAP",
        source: Address::new(5, 0, b"Hermod"),
        destination: Address::new(1, 1, b"4915112345678"),
        esm_class: 0x40,
        protocol_id: 1,
        priority_flag: 2,
        schedule_delivery_time: b"000001000000000R",
        validity_period: b"000002000000000R",
        registered_delivery: 0x11,
        data_coding: 0,
        short_message: Hidden(b"\x05\x00\x03\x2a\x02\x01@hi"),
        tlvs: tlvs.as_tlvs(),
        ..SubmitSm::default()
    };
    esme.submit_pdu("a", &submit).await;
    assert_eq!(esme.next().await, "a: 1");
    let seen = carrier.record().submits().remove(0);
    assert_eq!((seen.service_type.as_str(), seen.protocol_id, seen.priority), ("WAP", 1, 2));
    assert_eq!((seen.source_kind, seen.destination_kind), ((5, 0), (1, 1)));
    assert_eq!((seen.esm_class, seen.registered_delivery, seen.data_coding), (0x40, 0x11, 0));
    assert_eq!(seen.schedule_delivery_time, "000001000000000R");
    assert_eq!(seen.validity_period, "000002000000000R");
    assert_eq!(
        (seen.header.as_slice(), seen.octets.as_slice()),
        (&b"\x05\x00\x03\x2a\x02\x01"[..], &b"@hi"[..])
    );
    assert_eq!((seen.text.as_str(), seen.in_payload), ("¡hi", false));
    assert_eq!(seen.tlvs, [(0x0204, vec![1, 2]), (0x1500, b"own".to_vec())]);
    assert_eq!((seen.tlv(0x1500), seen.tlv(0x1501)), (Some(&b"own"[..]), None));
    assert_eq!((seen.sequence, seen.pdu[..4].to_vec()), (2, (seen.pdu.len() as u32).to_be_bytes().to_vec()));
}

#[tokio::test]
async fn record_joins_texts_from_udh_tlvs_and_payload() {
    let carrier = carrier(Script::new().no_receipts().default_alphabet(CodingZeroAlphabet::Latin1)).await;
    let mut links = [Esme::bound(carrier.addr()).await, Esme::bound(carrier.addr()).await];
    let plain = SubmitSm { destination: Address::international(b"4915112345678"), ..SubmitSm::default() };
    for (sequence, link, text) in [(2, 0, &b"world"[..]), (1, 1, b"hello ")] {
        let mut sar = TlvBuffer::new();
        sar.push_u16(Tag::SAR_MSG_REF_NUM, 300).push_u8(Tag::SAR_TOTAL_SEGMENTS, 2);
        sar.push_u8(Tag::SAR_SEGMENT_SEQNUM, sequence);
        let part = SubmitSm { short_message: Hidden(text), tlvs: sar.as_tlvs(), ..plain };
        links[link].submit_pdu("sar", &part).await;
        assert!(links[link].next().await.starts_with("sar"));
    }
    for part in [&b"\x06\x08\x04\x00\x07\x02\x01caf"[..], b"\x06\x08\x04\x00\x07\x02\x02\xe9"] {
        let part = SubmitSm { esm_class: 0x40, short_message: Hidden(part), ..plain };
        links[0].submit_pdu("udh", &part).await;
        assert!(links[0].next().await.starts_with("udh"));
    }
    let long = [b'x'; 300];
    let mut payload = TlvBuffer::new();
    payload.push(Tag::MESSAGE_PAYLOAD, &long);
    links[0].submit_pdu("payload", &SubmitSm { tlvs: payload.as_tlvs(), ..plain }).await;
    assert!(links[0].next().await.starts_with("payload"));

    let record = carrier.record();
    let received = record.received();
    let long = String::from_utf8(long.to_vec()).unwrap();
    assert_eq!(record.received_texts(), ["hello world", "café", long.as_str()]);
    assert_eq!(
        (received[0].parts.as_slice(), received[0].is_on_one_link_in_order()),
        (&[(2, 1), (1, 0)][..], false)
    );
    assert_eq!(
        (received[1].parts.as_slice(), received[1].is_on_one_link_in_order()),
        (&[(1, 2), (1, 3)][..], true)
    );
    let submits = record.submits();
    assert_eq!(submits[1].part, Some(PartNumber { reference: 300, total: 2, sequence: 1 }));
    assert!(submits[4].in_payload && submits[4].octets.len() == 300);
}
