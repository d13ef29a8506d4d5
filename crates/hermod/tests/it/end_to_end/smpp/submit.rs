//! submit_sm, data_sm and submit_multi: charging, splitting, encodings and statuses.

use super::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{
    Address, BindType, CommandStatus, DataSm, DestinationEntry, DestinationsBuffer, Hidden, Pdu, SubmitMulti,
    SubmitSm, Tag, TlvBuffer, encode, esm_class,
};

async fn bound(s: &Scenario) -> Esme {
    provision_alice_smpp(s, "").await;
    Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await
}

#[tokio::test]
async fn submitted_message_is_charged_sent_once_and_receipted() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, 4711);
    let id = alice.submit(SubmitSm { tlvs: tlvs.as_tlvs(), ..message("hello") }).await;
    assert!((10..=18).contains(&id.len()) && !id.starts_with('0'), "{id}");
    let receipt = alice.take_receipt().await;
    assert_eq!(receipt.esm_class, 0x04);
    assert_eq!((receipt.source.as_str(), receipt.destination.as_str()), ("1/1 4915112345678", "5/0 Hermod"));
    let expect = format!(
        "id:{id} sub:001 dlvrd:001 submit date:2611150000 done date:2611150000 stat:DELIVRD err:000 text:"
    );
    assert_eq!(receipt.text, expect);
    assert_eq!(
        (receipt.id_tlv, receipt.state_tlv, receipt.reference_tlv),
        (Some(id.clone()), Some(2), Some(4711))
    );
    s.assert_carrier_received_once("hello");
    s.alice.assert_balance("99.95").await;
    s.alice.status_of(&id).is("delivered").await;
    alice.unbind().await;
    s.end().await;
}

#[tokio::test]
async fn long_message_payload_is_split_charged_by_parts_and_receipted_once() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let text = "Hermod rode nine nights through deep and dark valleys. ".repeat(8);
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, text.as_bytes());
    alice.submit(SubmitSm { short_message: Hidden(b""), tlvs: tlvs.as_tlvs(), ..message("") }).await;
    let receipt = alice.take_receipt().await;
    assert!(receipt.text.contains("sub:003 dlvrd:003"), "{}", receipt.text);
    alice.assert_nothing_received().await;
    s.assert_carrier_received_once(&text);
    s.alice.assert_balance("99.85").await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn parts_split_by_the_client_are_separate_messages_and_unchanged() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut ids = Vec::new();
    for part in 1..=2 {
        let octets = [&[5, 0, 3, 0x42, 2, part][..], b"half of it"].concat();
        let submit = SubmitSm { esm_class: esm_class::UDHI, short_message: Hidden(&octets), ..message("") };
        ids.push(alice.submit(submit).await);
    }
    assert_ne!(ids[0], ids[1]);
    let mut reported = [alice.take_receipt().await.id_tlv, alice.take_receipt().await.id_tlv];
    reported.sort();
    ids.sort();
    assert_eq!(reported.map(Option::unwrap).to_vec(), ids);
    let headers: Vec<Vec<u8>> =
        s.carrier().record().submits().iter().map(|submit| submit.header.clone()).collect();
    assert_eq!(headers, [vec![5, 0, 3, 0x42, 2, 1], vec![5, 0, 3, 0x42, 2, 2]]);
    s.alice.assert_balance("99.9").await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn sar_parts_are_converted_to_udh_for_a_carrier_with_udh() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::SAR_MSG_REF_NUM, 0x0107)
        .push_u8(Tag::SAR_TOTAL_SEGMENTS, 3)
        .push_u8(Tag::SAR_SEGMENT_SEQNUM, 2);
    alice.submit(SubmitSm { tlvs: tlvs.as_tlvs(), ..message("middle") }).await;
    alice.take_receipt().await;
    let submit = &s.carrier().record().submits()[0];
    assert_eq!(
        (submit.header.as_slice(), submit.octets.as_slice()),
        (&[5, 0, 3, 6, 3, 2][..], &b"middle"[..])
    );
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn texts_message_classes_and_binary_data_are_encoded_for_the_carrier() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut flash = TlvBuffer::new();
    flash.push_u8(Tag::DEST_ADDR_SUBUNIT, 1);
    let cases: [(SubmitSm<'_>, u8, &[u8]); 6] = [
        (SubmitSm { data_coding: 8, short_message: Hidden(&[0x04, 0x16]), ..message("") }, 8, &[0x04, 0x16]),
        (
            SubmitSm { data_coding: 4, short_message: Hidden(&[0, 0x1B, 0xFF]), ..message("") },
            4,
            &[0, 0x1B, 0xFF],
        ),
        (SubmitSm { data_coding: 3, short_message: Hidden(b"caf\xe9 @"), ..message("") }, 0, b"caf\x05 \x00"),
        (SubmitSm { data_coding: 1, short_message: Hidden(b"[a]"), ..message("") }, 0, b"\x1b\x3ca\x1b\x3e"),
        (SubmitSm { tlvs: flash.as_tlvs(), ..message("now") }, 0x10, b"now"),
        (SubmitSm { data_coding: 0x18, short_message: Hidden(&[0, b'!']), ..message("") }, 0x18, &[0, b'!']),
    ];
    for (submit, ..) in &cases {
        alice.submit(*submit).await;
        alice.take_receipt().await;
    }
    let seen = s.carrier().record().submits();
    for (seen, (_, data_coding, octets)) in seen.iter().zip(&cases) {
        assert_eq!((seen.data_coding, seen.octets.as_slice()), (*data_coding, *octets));
    }
    drop(alice);
    s.end().await;
}

/// Returns an encoded `submit_sm` with sequence number 900 and these octets after its last field.
fn submit_sm_followed_by(text: &str, behind: &[u8]) -> Vec<u8> {
    let mut out = bytes::BytesMut::new();
    encode(&Pdu::SubmitSm(message(text)), CommandStatus::OK, 900, &mut out).expect("a PDU");
    out.extend_from_slice(behind);
    let length = u32::try_from(out.len()).expect("short");
    out[..4].copy_from_slice(&length.to_be_bytes());
    out.to_vec()
}

#[tokio::test]
async fn submit_sm_with_one_stray_null_is_accepted_and_with_two_rejected_with_0xc0() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    // php-smpp's default for a short text, and for the part of a long one that it marks with sar_* TLVs.
    let sar = b"\0\x02\x0c\0\x02\0\x07\x02\x0e\0\x01\x02\x02\x0f\0\x01\x01";
    for (text, behind, expect) in [
        ("one null", &b"\0"[..], CommandStatus::OK),
        ("null and TLVs", sar, CommandStatus::OK),
        ("two nulls", b"\0\0", CommandStatus::INVOPTPARSTREAM),
        ("one octet", b"\x01", CommandStatus::INVOPTPARSTREAM),
    ] {
        alice.send_octets(&submit_sm_followed_by(text, behind)).await;
        assert_eq!(alice.response_to(900).await.header.status, expect, "{text}");
        if expect == CommandStatus::OK {
            alice.take_receipt().await;
        }
    }
    s.assert_carrier_received_once("one null");
    assert_eq!(s.carrier().record().submits()[1].header, [5, 0, 3, 7, 2, 1]);
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn data_sm_submits_a_message() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, b"by data sm");
    let SubmitSm { source, destination, .. } = message("");
    let data =
        DataSm { source, destination, registered_delivery: 1, tlvs: tlvs.as_tlvs(), ..DataSm::default() };
    let frame = alice.request(&Pdu::DataSm(data)).await;
    let Ok(Pdu::DataSmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
    let id = String::from_utf8(answer.message_id.to_vec()).unwrap();
    assert_eq!(alice.take_receipt().await.get("id"), id);
    s.assert_carrier_received_once("by data sm");
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn submit_multi_makes_one_message_per_recipient_and_lists_the_failed_ones() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let mut destinations = DestinationsBuffer::default();
    for number in [&b"4915112345678"[..], b"12", b"4915112345679"] {
        destinations.push(DestinationEntry::Sme(Address::international(number))).unwrap();
    }
    let SubmitSm { source, .. } = message("");
    let multi = SubmitMulti {
        source,
        destinations: destinations.as_destinations(),
        registered_delivery: 1,
        short_message: Hidden(b"to all"),
        ..SubmitMulti::default()
    };
    let frame = alice.request(&Pdu::SubmitMulti(multi)).await;
    let Ok(Pdu::SubmitMultiResp(answer)) = frame.decode() else { panic!("{frame:?}") };
    let refused: Vec<_> =
        answer.unsuccessful.iter().map(|one| (one.destination.value.to_vec(), one.status.0)).collect();
    assert_eq!(refused, [(b"12".to_vec(), 0x0B)]);
    let receipts = [alice.take_receipt().await, alice.take_receipt().await];
    assert!(receipts.iter().any(|receipt| receipt.get("id").as_bytes() == answer.message_id));
    s.alice.assert_balance("99.9").await;
    let mut lists = DestinationsBuffer::default();
    lists.push(DestinationEntry::DistributionList(b"friends")).unwrap();
    let listed = SubmitMulti { destinations: lists.as_destinations(), ..multi };
    assert_eq!(alice.request(&Pdu::SubmitMulti(listed)).await.header.status, CommandStatus::CNTSUBDL);
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn rejected_submit_has_its_documented_status_and_is_not_charged() {
    let s = Scenario::with(Script::new()).await;
    let mut alice = bound(&s).await;
    let base = message("no");
    let cases = [
        (SubmitSm { destination: Address::international(b"12"), ..base }, 0x0B),
        (SubmitSm { source: Address::alphanumeric(b"Other"), ..base }, 0x0A),
        (SubmitSm { data_coding: 9, ..base }, 0x45),
        (SubmitSm { destination: Address::international(b"99912345678"), ..base }, 0x0B),
    ];
    for (submit, status) in cases {
        assert_eq!(alice.try_submit(submit).await, Err(CommandStatus(status)));
    }
    s.alice.assert_balance("100").await;
    s.assert_carrier_received_nothing();
    alice.submit(message("still here")).await;
    alice.take_receipt().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn submits_over_a_hundred_per_second_are_throttled() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "window = 100\n").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let mut asked = Vec::new();
    for _ in 0..103 {
        asked.push(alice.send(&Pdu::SubmitSm(SubmitSm { registered_delivery: 0, ..message("fast") })).await);
    }
    let mut throttled = 0;
    for sequence in asked {
        let status = alice.response_to(sequence).await.header.status;
        throttled += u32::from(status == CommandStatus::THROTTLED);
        assert!([CommandStatus::OK, CommandStatus::THROTTLED].contains(&status), "{status}");
    }
    assert_eq!(throttled, 3);
    s.skip(std::time::Duration::from_secs(1));
    alice.submit(SubmitSm { registered_delivery: 0, ..message("slower") }).await;
    s.wait_until_no_open_parts().await;
    s.alice.assert_balance("94.95").await;
    drop(alice);
    s.end().await;
}
