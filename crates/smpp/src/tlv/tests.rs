//! Unit tests of `tlv/mod.rs`.

use super::*;
use crate::{Address, Hidden, Pdu, SubmitSm, encode, next_frame};

#[test]
fn sar_tlvs_round_trip_and_count_only_together() {
    let part = |reference, total, part| Concatenation { reference, total, part };
    let sar_of = |total, seqnum| {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_sar(part(0x1234, total, seqnum));
        tlvs.as_tlvs().sar()
    };
    assert_eq!(sar_of(3, 1), Some(part(0x1234, 3, 1)));
    assert_eq!(sar_of(255, 255), Some(part(0x1234, 255, 255)));
    for (total, seqnum) in [(0, 0), (3, 0), (3, 4)] {
        assert_eq!(sar_of(total, seqnum), None, "{seqnum} of {total}");
    }
    let mut two = TlvBuffer::new();
    two.push_u16(Tag::SAR_MSG_REF_NUM, 7).push_u8(Tag::SAR_TOTAL_SEGMENTS, 2);
    assert_eq!(two.as_tlvs().sar(), None);
    two.push(Tag::SAR_SEGMENT_SEQNUM, &[0, 1]);
    assert_eq!(two.as_tlvs().sar(), None, "of another size");
}

#[test]
fn value_too_long_for_a_tlv_is_refused() {
    let mut tlvs = TlvBuffer::new();
    let cases = [
        (Tag(0x1403), 0, Ok(())),
        (Tag(0x1403), VALUE_BYTES_MAX, Ok(())),
        (Tag(0x1403), VALUE_BYTES_MAX + 1, Err("tlv is too long")),
        (Tag::MESSAGE_PAYLOAD, VALUE_BYTES_MAX + 1, Err("message_payload is too long")),
    ];
    for (tag, octets, expect) in cases {
        tlvs.clear();
        let pushed = tlvs.try_push(tag, &vec![7; octets]).map(|_| ()).map_err(|fault| fault.to_string());
        assert_eq!(pushed, expect.map_err(str::to_owned), "{tag} {octets}");
        let found = tlvs.as_tlvs().get(tag).map(<[u8]>::len);
        assert_eq!(found, expect.is_ok().then_some(octets), "{tag} {octets}");
    }
}

#[test]
fn one_stray_null_before_or_after_the_tlvs_is_ignored_and_nothing_else() {
    let reference = b"\x02\x04\x00\x02\x12\x67";
    for (bytes, expect) in [
        (&b""[..], Ok(&b""[..])),
        (b"\0", Ok(b"")),
        (b"\x02\x04\x00\x02\x12\x67\0", Ok(reference)),
        (b"\0\x02\x04\x00\x02\x12\x67", Ok(reference)),
        (b"\0\0", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\0\0\0", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\x01", Err(CommandStatus::INVOPTPARSTREAM)),
        (b" ", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\x02\x04\x00\x02\x12\x67\x01", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\x02\x04\x00\x02\x12\x67\0\0", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\0\x02\x04\x00\x02\x12\x67\0", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\x02\x04\x00\x03\x12\x67", Err(CommandStatus::INVOPTPARSTREAM)),
        (b"\x02\x04\x00\x01\x12\0", Err(CommandStatus::INVPARLEN)),
    ] {
        for request in [SUBMIT, DATA, MULTI] {
            let parsed = parse_strict(bytes, request).map(Tlvs::as_bytes);
            assert_eq!(parsed, expect, "{bytes:02x?}");
        }
    }
}

#[test]
fn part_round_trips_with_sar_payload_and_vendor_tlv() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_sar(Concatenation { reference: 9, total: 2, part: 2 });
    tlvs.try_push(Tag::MESSAGE_PAYLOAD, b"hello").unwrap().try_push(Tag(0x1501), b"1207\0").unwrap();
    let submit = SubmitSm {
        source: Address::new(3, 9, b"8000"),
        destination: Address::new(2, 8, b"01701234567"),
        tlvs: tlvs.as_tlvs(),
        ..SubmitSm::default()
    };
    let mut out = bytes::BytesMut::new();
    encode(&Pdu::SubmitSm(submit), CommandStatus::OK, 1, &mut out).unwrap();
    let frame = next_frame(&mut out, 16_384).unwrap().unwrap();
    let Ok(Pdu::SubmitSm(read)) = frame.decode() else { panic!("a submit_sm") };
    assert_eq!(read, submit);
    assert_eq!(read.text(), Hidden(b"hello"));
    assert_eq!(read.tlvs.get(Tag(0x1501)), Some(&b"1207\0"[..]));
}
