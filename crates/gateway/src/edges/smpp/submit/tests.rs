//! Tests of `submit_sm` field by field: accepted values, and the status of rejected ones.

use super::*;
use hermod_smpp::{Hidden, TlvBuffer};

const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000); // 2026-11-15T00:00:00Z

fn plain() -> SubmitSm<'static> {
    SubmitSm {
        source: Address::alphanumeric(b"Shop"),
        destination: Address::international(b"4915112345678"),
        short_message: Hidden(b"hello"),
        ..SubmitSm::default()
    }
}

fn read_on(pdu: &SubmitSm<'_>, access: &SmppAccess, is_3_4: bool) -> Result<(Submission, u8), CommandStatus> {
    let default_sender = Some(Sender::parse("Default").unwrap());
    let terms = SubmitTerms { access, is_3_4, on_transmitter: false, default_sender, now: NOW };
    let draft = draft(&Fields::of_submit_sm(pdu), &terms)?;
    Ok((draft.addressed_to(pdu.destination, access)?, draft.parts()))
}

fn read(pdu: &SubmitSm<'_>) -> Result<(Submission, u8), CommandStatus> {
    read_on(pdu, &SmppAccess::new("shop", ""), true)
}

#[track_caller]
fn refused(pdu: &SubmitSm<'_>, status: u32) {
    assert_eq!(read(pdu).map_err(|status| status.0).map(|_| ()), Err(status));
}

#[test]
fn plain_submit_has_no_shape_and_no_options() {
    let (submission, parts) = read(&plain()).unwrap();
    let Submission {
        to,
        from,
        text,
        encoding,
        options,
        place,
        tlvs,
        validity,
        origin,
        callback,
        key,
        request,
    } = submission;
    assert_eq!(place, None);
    assert_eq!(
        (to.to_string().as_str(), from.unwrap().as_str(), text.as_str()),
        ("+4915112345678", "Shop", "hello")
    );
    assert_eq!(
        (encoding, options, tlvs, validity, callback, key, request),
        (Some(Encoding::Gsm7), None, None, None, None, None, None)
    );
    let origin = origin.expect("every SMPP message has an origin");
    assert!(origin.registered_delivery.is_none() && !origin.on_transmitter);
    assert_eq!(parts, 1);
}

#[test]
fn invalid_field_is_rejected_with_its_own_status() {
    let base = plain();
    for (pdu, status) in [
        (SubmitSm { esm_class: 0x02, ..base }, 0x43),
        (SubmitSm { esm_class: 0x08, ..base }, 0x43),
        (SubmitSm { esm_class: 0x10, ..base }, 0x43),
        (SubmitSm { esm_class: 0x04, ..base }, 0x43),
        (SubmitSm { protocol_id: 0x40, ..base }, 0x45),
        (SubmitSm { protocol_id: 0x47, ..base }, 0x45),
        (SubmitSm { protocol_id: 0x7F, ..base }, 0x45),
        (SubmitSm { priority_flag: 4, ..base }, 0x06),
        (SubmitSm { schedule_delivery_time: b"000001000000000R", ..base }, 0x61),
        (SubmitSm { replace_if_present_flag: 1, ..base }, 0x42),
        (SubmitSm { replace_if_present_flag: 2, ..base }, 0x54),
        (SubmitSm { sm_default_msg_id: 1, ..base }, 0x63),
        (SubmitSm { data_coding: 0x09, ..base }, 0x45),
        (SubmitSm { short_message: Hidden(b""), ..base }, 0x01),
        (SubmitSm { source: Address::alphanumeric(b"TooLongAName"), ..base }, 0x0A),
        (SubmitSm { destination: Address::international(b"12"), ..base }, 0x0B),
    ] {
        refused(&pdu, status);
    }
    for fine in [
        SubmitSm { esm_class: 0x01, ..base },
        SubmitSm { esm_class: 0x03, ..base },
        SubmitSm { esm_class: 0x80, ..base },
        SubmitSm { priority_flag: 3, ..base },
        SubmitSm { registered_delivery: 0xE0, ..base },
        SubmitSm { service_type: b"CMT", ..base },
    ] {
        assert!(read(&fine).is_ok(), "{fine:?}");
    }
}

#[test]
fn protocol_id_is_passed_on_ignored_or_needs_permission() {
    let pid = |protocol_id, access: &SmppAccess| {
        let read = read_on(&SubmitSm { protocol_id, ..plain() }, access, true);
        read.map(|(submission, _)| submission.options.map_or(0, |options| options.protocol_id))
    };
    let usual = SmppAccess::new("shop", "");
    let special = SmppAccess { special_protocol_ids: true, ..usual.clone() };
    assert_eq!(
        [0x00, 0x1F, 0x20, 0x50, 0xFF].map(|id| pid(id, &usual)),
        [Ok(0), Ok(0x1F), Ok(0), Ok(0), Ok(0)]
    );
    assert_eq!([0x40, 0x41, 0x7F].map(|id| pid(id, &special)), [Ok(0x40), Ok(0x41), Ok(0x7F)]);
}

#[test]
fn validity_is_relative_or_absolute_and_never_in_the_past() {
    let seconds = |field: &'static [u8]| {
        let read = read(&SubmitSm { validity_period: field, ..plain() });
        read.map(|(submission, _)| submission.validity.map(|validity| validity.as_secs())).map_err(|it| it.0)
    };
    for (field, expect) in [
        (&b""[..], Ok(None)),
        (b"000001000000000R", Ok(Some(86_400))),
        (b"000000003000000R", Ok(Some(1_800))),
        (b"000100000000000R", Ok(Some(30 * 86_400))),
        (b"261115010000000+", Ok(Some(3_600))),
        (b"261115010000004+", Ok(Some(0))),
        (b"261115010000004-", Ok(Some(7_200))),
        (b"261114235959000+", Err(0x62)),
        (b"261115000000000+", Err(0x62)),
        (b"000000000000000R", Err(0x62)),
        (b"261131000000000+", Err(0x62)),
        (b"tomorrow", Err(0x62)),
    ] {
        // The offset of an hour makes it exactly now, which is in the past.
        let expect = if field == b"261115010000004+" { Err(0x62) } else { expect };
        assert_eq!(seconds(field), expect, "{}", field.escape_ascii());
    }
}

#[test]
fn absolute_validity_uses_the_nearest_century() {
    let at = |year, field: &[u8]| {
        let now = Timestamp::from_utc((year, 1, 19), (3, 14, 8)).unwrap();
        validity::read(field, now)
            .map(|validity| validity.map(|validity| validity.as_secs()))
            .map_err(|it| it.0)
    };
    assert_eq!(at(2038, b"380119041408000+"), Ok(Some(3_600)));
    assert_eq!(at(2038, b"380119021408000+"), Err(0x62));
    assert_eq!(at(2037, b"380119031408000+"), Ok(Some(365 * 86_400)));
    assert_eq!(at(2093, b"930119041408000+"), Ok(Some(3_600)));
    assert_eq!(at(2026, b"990119041408000+"), Err(0x62));
}

#[test]
fn origin_keeps_registered_delivery_and_the_submitted_addresses() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, 0x1234);
    let pdu = SubmitSm {
        registered_delivery: 0x11,
        destination: Address::new(2, 8, b"004915112345678"),
        tlvs: tlvs.as_tlvs(),
        ..plain()
    };
    let origin = read(&pdu).unwrap().0.origin.unwrap();
    assert_eq!(
        origin.registered_delivery,
        RegisteredDelivery { success: true, failure: true, intermediate: true }
    );
    assert_eq!((origin.reference, origin.short_id, origin.on_transmitter), (Some(0x1234), false, false));
    assert_eq!(origin.destination, SmppAddress::new(2, 8, b"004915112345678"));
    assert_eq!(origin.source, SmppAddress::new(5, 0, b"Shop"));
    assert!(origin.quote.is_empty());

    let nameless = SubmitSm { source: Address::default(), ..pdu };
    let (submission, _) = read(&nameless).unwrap();
    assert_eq!(submission.from, None);
    assert_eq!(submission.origin.unwrap().source, SmppAddress::new(5, 0, b"Default"));

    let quoting = SmppAccess { receipt_text: true, ..SmppAccess::new("shop", "") };
    let long = SubmitSm { short_message: Hidden(b"0123456789 0123456789 more"), ..pdu };
    let origin = read_on(&long, &quoting, false).unwrap().0.origin.unwrap();
    assert_eq!((&origin.quote[..], origin.short_id), (&b"0123456789 012345678"[..], true));
    let silent = SubmitSm { registered_delivery: 0, ..pdu };
    assert!(read_on(&silent, &quoting, false).unwrap().0.origin.is_some(), "3.3 needs an alias");
}

#[test]
fn text_in_both_short_message_and_payload_is_rejected() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, &[b'a'; 400]);
    let both = SubmitSm { tlvs: tlvs.as_tlvs(), ..plain() };
    refused(&both, 0xC1);
    let (submission, parts) = read(&SubmitSm { short_message: Hidden(b""), ..both }).unwrap();
    assert_eq!((submission.text.as_str().len(), parts), (400, 3));
    let mut empty = TlvBuffer::new();
    empty.push(Tag::MESSAGE_PAYLOAD, b"");
    refused(&SubmitSm { short_message: Hidden(b""), tlvs: empty.as_tlvs(), ..plain() }, 0x01);
    let (_, parts) = read(&SubmitSm { short_message: Hidden(&[b'a'; 254]), ..plain() }).unwrap();
    assert_eq!(parts, 2);
    let (_, parts) = read(&SubmitSm { short_message: Hidden(&[0; 200]), data_coding: 4, ..plain() }).unwrap();
    assert_eq!(parts, 2);
}

#[test]
fn parts_split_by_the_client_are_kept() {
    let udh = |header: &[u8], text: &[u8]| [header, text].concat();
    let concat = [5, 0, 3, 7, 2, 1];
    let whole = udh(&concat, &[b'a'; 153]);
    let pdu = SubmitSm { esm_class: esm_class::UDHI, short_message: Hidden(&whole), ..plain() };
    let (submission, parts) = read(&pdu).unwrap();
    assert_eq!((submission.text.as_str().len(), parts, submission.encoding), (153, 1, Some(Encoding::Gsm7)));
    assert_eq!(&submission.options.unwrap().header[..], concat);

    let long = udh(&concat, &[b'a'; 154]);
    refused(&SubmitSm { short_message: Hidden(&long), ..pdu }, 0x01);
    let broken = udh(&[9, 0, 3], b"abc");
    refused(&SubmitSm { short_message: Hidden(&broken), ..pdu }, 0x43);
    let half_escape = udh(&concat, b"abc\x1b");
    let (submission, _) = read(&SubmitSm { short_message: Hidden(&half_escape), ..pdu }).unwrap();
    assert_eq!(
        (submission.encoding, submission.options.unwrap().data_coding),
        (Some(Encoding::Octets), Some(0))
    );
    let full_septets = udh(&concat, &[&[b'a'; 152][..], b"\x1b"].concat());
    assert!(read(&SubmitSm { short_message: Hidden(&full_septets), ..pdu }).is_ok());
    let half_pair = udh(&concat, &[0xD8, 0x3D]);
    let (submission, _) =
        read(&SubmitSm { short_message: Hidden(&half_pair), data_coding: 8, ..pdu }).unwrap();
    assert_eq!(
        (submission.encoding, submission.options.unwrap().data_coding),
        (Some(Encoding::Octets), Some(8))
    );
}

/// WAP push and other messages to applications, in every form that a submit can have.
#[test]
fn messages_to_applications_are_rejected_unless_permitted() {
    let (base, permitted) = (plain(), SmppAccess { application_ports: true, ..SmppAccess::new("shop", "") });
    let with_tlv = |tag, value: &[u8]| {
        let mut tlvs = TlvBuffer::new();
        tlvs.push(tag, value);
        tlvs
    };
    let tlvs = [
        with_tlv(Tag::DESTINATION_PORT, &[0x0B, 0x84]),
        with_tlv(Tag::SOURCE_PORT, &[0x23, 0xF0]),
        with_tlv(Tag::PAYLOAD_TYPE, &[1]),
    ];
    let headed = |element: &[u8]| [&[u8::try_from(element.len()).unwrap()], element, b"hello"].concat();
    let elements: Vec<Vec<u8>> = [
        &[5, 4, 0x0B, 0x84, 0x23, 0xF0][..],
        &[4, 2, 1, 2],
        &[9, 1, 0],
        &[0, 3, 7, 2, 1, 5, 4, 0x0B, 0x84, 0x23, 0xF0],
    ]
    .map(headed)
    .into();
    let mut to_applications: Vec<SubmitSm<'_>> =
        tlvs.iter().map(|tlvs| SubmitSm { tlvs: tlvs.as_tlvs(), ..base }).collect();
    let with_udh =
        |octets| SubmitSm { esm_class: 0x40, data_coding: 4, short_message: Hidden(octets), ..base };
    to_applications.extend(elements.iter().map(|octets| with_udh(octets)));
    for pdu in &to_applications {
        refused(pdu, 0x45);
        let read = read_on(pdu, &permitted, true).map(|_| ()).map_err(|status| status.0);
        assert_eq!(read, Ok(()), "{pdu:?}");
    }
    let usual = with_tlv(Tag::PAYLOAD_TYPE, &[0]);
    assert!(read(&SubmitSm { tlvs: usual.as_tlvs(), ..base }).is_ok());
}

/// Silent, replacing and SIM messages, in every form that a submit can have.
#[test]
fn silent_and_sim_messages_are_rejected_unless_permitted() {
    let (base, permitted) =
        (plain(), SmppAccess { special_protocol_ids: true, ..SmppAccess::new("shop", "") });
    let subunit = |value| {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_u8(Tag::DEST_ADDR_SUBUNIT, value);
        tlvs
    };
    let (sim, display, terminal) = (subunit(3), subunit(1), subunit(2));
    let headed = |element: &[u8]| [&[u8::try_from(element.len()).unwrap()], element, b"hello"].concat();
    let elements: Vec<Vec<u8>> =
        [&[0x70, 0][..], &[0x71, 1, 0], &[0x7F, 0], &[0, 3, 7, 2, 1, 0x70, 0]].map(headed).into();
    let harmless = headed(&[0x25, 1, 1]);
    let with_udh =
        |octets| SubmitSm { esm_class: 0x40, data_coding: 4, short_message: Hidden(octets), ..base };
    let mut special: Vec<SubmitSm<'_>> = Vec::new();
    special.extend([0x40, 0x41, 0x47, 0x7F].map(|protocol_id| SubmitSm { protocol_id, ..base }));
    special.extend([0x12, 0x16, 0x1A, 0xF2, 0xF6].map(|data_coding| SubmitSm {
        data_coding,
        short_message: Hidden(b"\0h\0i"),
        ..base
    }));
    special.push(SubmitSm { tlvs: sim.as_tlvs(), ..base });
    special.extend(elements.iter().map(|octets| with_udh(octets)));
    for pdu in &special {
        refused(pdu, 0x45);
        let read = read_on(pdu, &permitted, true).map(|_| ()).map_err(|status| status.0);
        assert_eq!(read, Ok(()), "{pdu:?}");
    }
    let class = |pdu| read_on(pdu, &permitted, true).unwrap().0.options.unwrap().class;
    assert_eq!(class(&SubmitSm { tlvs: sim.as_tlvs(), ..base }), Some(2));
    for fine in [
        SubmitSm { data_coding: 0x10, ..base },
        SubmitSm { data_coding: 0x11, ..base },
        SubmitSm { data_coding: 0xF3, ..base },
        SubmitSm { tlvs: display.as_tlvs(), ..base },
        SubmitSm { tlvs: terminal.as_tlvs(), ..base },
        with_udh(&harmless),
    ] {
        assert!(read(&fine).is_ok(), "{fine:?}");
    }
}

#[test]
fn sar_parameters_need_all_three_and_no_udh() {
    let sar = |reference: Option<u16>, total: Option<u8>, part: Option<u8>| {
        let mut tlvs = TlvBuffer::new();
        if let Some(reference) = reference {
            tlvs.push_u16(Tag::SAR_MSG_REF_NUM, reference);
        }
        if let Some(total) = total {
            tlvs.push_u8(Tag::SAR_TOTAL_SEGMENTS, total);
        }
        if let Some(part) = part {
            tlvs.push_u8(Tag::SAR_SEGMENT_SEQNUM, part);
        }
        tlvs
    };
    let joined = |tlvs: &TlvBuffer| {
        let read = read(&SubmitSm { tlvs: tlvs.as_tlvs(), ..plain() });
        read.map(|(submission, _)| submission.options.and_then(|options| options.concat))
            .map_err(|status| status.0)
    };
    let expect = ConcatPart { reference: 300, total: 3, part: 2 };
    assert_eq!(joined(&sar(Some(300), Some(3), Some(2))), Ok(Some(expect)));
    assert_eq!(joined(&sar(Some(300), Some(1), Some(1))), Ok(None));
    assert_eq!(joined(&sar(Some(300), None, Some(2))), Ok(None));
    assert_eq!(joined(&sar(Some(300), Some(3), Some(4))), Err(0xC4));
    let tlvs = sar(Some(300), Some(3), Some(2));
    let header = [&[5, 0, 3, 7, 2, 1][..], b"text"].concat();
    let mixed = SubmitSm {
        esm_class: esm_class::UDHI,
        short_message: Hidden(&header),
        tlvs: tlvs.as_tlvs(),
        ..plain()
    };
    refused(&mixed, 0xC4);
}

#[test]
fn flash_is_class_0_from_data_coding_or_subunit() {
    let class = |pdu: SubmitSm<'_>| read(&pdu).unwrap().0.options.and_then(|options| options.class);
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u8(Tag::DEST_ADDR_SUBUNIT, 1);
    let mut mobile = TlvBuffer::new();
    mobile.push_u8(Tag::DEST_ADDR_SUBUNIT, 2);
    assert_eq!(class(SubmitSm { tlvs: tlvs.as_tlvs(), ..plain() }), Some(0));
    assert_eq!(class(SubmitSm { tlvs: mobile.as_tlvs(), ..plain() }), None);
    assert_eq!(class(SubmitSm { data_coding: 0x10, ..plain() }), Some(0));
    assert_eq!(class(SubmitSm { data_coding: 0xF1, ..plain() }), Some(1));
}

#[test]
fn handset_tlvs_are_kept_and_vendor_tlvs_need_permission() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::CALLBACK_NUM, b"\x01\x01\x0112345");
    tlvs.push(Tag(0x1501), b"x");
    tlvs.push(Tag(0x0999), b"unknown");
    let pdu = SubmitSm { tlvs: tlvs.as_tlvs(), ..plain() };
    let kept = |access: &SmppAccess| {
        let kept = read_on(&pdu, access, true).unwrap().0.tlvs.unwrap();
        Tlvs::parse(&kept).unwrap().iter().map(|tlv| tlv.tag.0).collect::<Vec<_>>()
    };
    let usual = SmppAccess::new("shop", "");
    assert_eq!(kept(&usual), [0x0381]);
    assert_eq!(kept(&SmppAccess { pass_tlvs: true, ..usual.clone() }), [0x0381, 0x1501]);
    let mut flood = TlvBuffer::new();
    for _ in 0..200 {
        flood.push(Tag::CALLBACK_NUM, b"\x01\x01\x0112345");
    }
    refused(&SubmitSm { tlvs: flood.as_tlvs(), ..plain() }, 0xC2);
}

#[test]
fn strict_connection_rejects_reserved_registered_delivery_bits() {
    let strict = SmppAccess { strict: true, ..SmppAccess::new("shop", "") };
    let odd = SubmitSm { registered_delivery: 0x20, ..plain() };
    assert_eq!(read_on(&odd, &strict, true).map(|_| ()).map_err(|status| status.0), Err(0x07));
    assert!(read_on(&SubmitSm { registered_delivery: 0x1D, ..plain() }, &strict, true).is_ok());
}
