//! What a trace line contains and hides, and its maximum length.

use bytes::BytesMut;

use super::*;
use crate::*;

fn octets(pdu: &Pdu<'_>, status: CommandStatus) -> BytesMut {
    let mut out = BytesMut::new();
    encode(pdu, status, 7, &mut out).unwrap();
    out
}

fn line_of(pdu: &Pdu<'_>) -> String {
    let frame = next_frame(&mut octets(pdu, CommandStatus::OK), 100_000).unwrap().unwrap();
    describe(&frame, ReceiptDialect::Standard).to_string()
}

fn submit_sm() -> SubmitSm<'static> {
    SubmitSm {
        source: Address::alphanumeric(b"ACME"),
        destination: Address::international(b"491701234567"),
        esm_class: esm_class::UDHI,
        registered_delivery: 1,
        short_message: Hidden(&[b'S'; 140]),
        ..SubmitSm::default()
    }
}

#[test]
fn submit_sm_is_traced_without_its_text() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_sar(udh::Concatenation { reference: 258, total: 2, part: 1 });
    tlvs.push(Tag::MESSAGE_PAYLOAD, b"SECRET")
        .push(Tag(0x1501), b"SECRET")
        .push(Tag::CALLBACK_NUM, b"SECRET");
    let submit = SubmitSm { tlvs: tlvs.as_tlvs(), ..submit_sm() };
    assert_eq!(
        line_of(&Pdu::SubmitSm(submit)),
        "submit_sm seq=7 source=5/0 ACME dest=1/1 491701234567 esm_class=0x40 validity=\"\" \
         registered_delivery=0x01 data_coding=0x00 text=(140 octets) \
         tlvs=[sar_msg_ref_num=0x0102 sar_total_segments=0x02 sar_segment_seqnum=0x01 \
         message_payload=(6 octets) 0x1501=(6 octets) callback_num=(6 octets)]"
    );
}

fn receipt_of(class: u8, text: &[u8], dialect: ReceiptDialect) -> String {
    let deliver = DeliverSm { esm_class: class, short_message: Hidden(text), ..DeliverSm::default() };
    let mut octets = octets(&Pdu::DeliverSm(deliver), CommandStatus::OK);
    let frame = next_frame(&mut octets, 100_000).unwrap().unwrap();
    let line = describe(&frame, dialect).to_string();
    line.split_once(" data_coding=0x00 ").unwrap().1.to_owned()
}

#[test]
fn receipt_is_traced_by_field_up_to_the_message_text() {
    let complete = b"id:77 sub:001 dlvrd:001 submit date:2611150101 done date:2611150102 stat:DELIVRD err:000 text:SECRET";
    let traced = "receipt=[id=77 sub=001 dlvrd=001 submit_date=2611150101 done_date=2611150102 stat=DELIVRD err=000] \
                text=(100 octets)";
    let (standard, commas) = (ReceiptDialect::Standard, ReceiptDialect::Commas);
    let cases: [(u8, &[u8], ReceiptDialect, &str); 10] = [
        (0x04, complete, standard, traced),
        (0x20, b"id:77 stat:ENROUTE", standard, "receipt=[id=77 stat=ENROUTE] text=(18 octets)"),
        // A label without its colon: the value would extend into the message.
        (0x04, b"id:77 stat:DELIVRD Text SECRET", standard, "receipt=[id=77 stat=DELIVRD] text=(30 octets)"),
        (0x04, b"text:SECRET id:SECRET", standard, "receipt=[] text=(21 octets)"),
        (0x04, b"SECRET", standard, "receipt=[] text=(6 octets)"),
        (0x04, b"", standard, "receipt=[] text=(0 octets)"),
        (0x04, b"id:\x1b[31m\" stat:", standard, r#"receipt=[id="\x1b[31m\"" stat=""] text=(15 octets)"#),
        (
            0x04,
            b"77,DELIVRD,001,1,2,SECRET",
            commas,
            "receipt=[id=77 submit_date=1 done_date=2 stat=DELIVRD err=001] text=(25 octets)",
        ),
        // An MO message may look like a receipt.
        (0x00, complete, standard, "text=(100 octets)"),
        (0x40, b"id:SECRET", standard, "text=(9 octets)"),
    ];
    for (class, text, dialect, expect) in cases {
        assert_eq!(receipt_of(class, text, dialect), expect, "{}", text.escape_ascii());
    }
}

#[test]
fn secrets_are_never_traced() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, b"SECRET").push(Tag(0x2000), b"SECRET");
    let secret = Hidden(b"SECRET");
    let mut destinations = DestinationsBuffer::default();
    destinations.push(DestinationEntry::DistributionList(b"everybody")).unwrap();
    let pdus = [
        Pdu::Bind(BindType::Receiver, Bind { password: secret, ..Bind::default() }),
        Pdu::Outbind(Outbind { password: secret, ..Outbind::default() }),
        Pdu::SubmitSm(SubmitSm { short_message: secret, tlvs: tlvs.as_tlvs(), ..SubmitSm::default() }),
        Pdu::DeliverSm(DeliverSm { short_message: secret, tlvs: tlvs.as_tlvs(), ..DeliverSm::default() }),
        Pdu::DataSm(DataSm { tlvs: tlvs.as_tlvs(), ..DataSm::default() }),
        Pdu::ReplaceSm(ReplaceSm { short_message: secret, ..ReplaceSm::default() }),
        Pdu::SubmitMulti(SubmitMulti {
            destinations: destinations.as_destinations(),
            short_message: secret,
            tlvs: tlvs.as_tlvs(),
            ..SubmitMulti::default()
        }),
        Pdu::Unknown(CommandId(0x999), secret),
    ];
    let hex = b"SECRET".map(|octet| format!("{octet:02x}")).concat();
    for pdu in &pdus {
        let line = line_of(pdu);
        assert!(!line.contains("SECRET") && !line.contains(&hex), "{line}");
    }
}

#[test]
fn line_is_cut_at_its_limit() {
    let long = [b'9'; 20];
    let mut destinations = DestinationsBuffer::default();
    let mut tlvs = TlvBuffer::new();
    for tag in 0..100 {
        destinations.push(DestinationEntry::Sme(Address::international(&long))).unwrap();
        tlvs.push(Tag(0x2000 + tag), b"SECRET");
    }
    let multi = SubmitMulti {
        destinations: destinations.as_destinations(),
        tlvs: tlvs.as_tlvs(),
        ..SubmitMulti::default()
    };
    let frame =
        next_frame(&mut octets(&Pdu::SubmitMulti(multi), CommandStatus::OK), 100_000).unwrap().unwrap();
    let traced = describe(&frame, ReceiptDialect::Standard);
    assert_eq!(traced.details.len(), DETAILS_CHARS_MAX);
    assert!(traced.details.ends_with("..."), "{}", traced.details);
    assert!(
        traced.details.starts_with("source=0/0 \"\" dests=100 first=[dest=1/1 99999999999999999999 dest=")
    );
    assert_eq!(traced.details.matches("dest=1/1").count(), 5);
}

#[test]
fn peer_octets_are_quoted_and_escaped() {
    let hostile = SubmitSm { source: Address::alphanumeric(b"X dest=1/1\n\x1b[2J\""), ..submit_sm() };
    let line = line_of(&Pdu::SubmitSm(hostile));
    let expect =
        r#"submit_sm seq=7 source=5/0 "X dest=1/1\n\x1b[2J\"" dest=1/1 491701234567 esm_class=0x40 "#;
    assert!(line.starts_with(expect), "{line}");
}

#[test]
fn traced_pdu_has_separate_fields() {
    let response = Pdu::SubmitSmResp(SubmitSmResp { message_id: b"42", ..SubmitSmResp::default() });
    let cases = [
        (response, CommandStatus::OK, "submit_sm_resp", "ESME_ROK", "message_id=42"),
        (response, CommandStatus::THROTTLED, "submit_sm_resp", "ESME_RTHROTTLED", "message_id=\"\""),
        (response, CommandStatus(0x0400), "submit_sm_resp", "0x00000400", "message_id=\"\""),
        (Pdu::EnquireLink, CommandStatus::OK, "enquire_link", "ESME_ROK", ""),
        (
            Pdu::Unknown(CommandId(0x0001_0200), Hidden(b"abc")),
            CommandStatus::OK,
            "0x00010200",
            "ESME_ROK",
            "body=(3 octets)",
        ),
    ];
    for (pdu, status, command, status_name, details) in cases {
        let octets = octets(&pdu, status);
        let traced: Vec<TracedPdu> = describe_all(&octets, ReceiptDialect::Standard).collect();
        let [one] = &traced[..] else { panic!("one PDU: {traced:?}") };
        assert_eq!(
            (&*one.command_name(), &*one.status_name(), &*one.details),
            (command, status_name, details)
        );
        assert_eq!((one.sequence, one.length), (7, u32::try_from(octets.len()).unwrap()));
    }
}

#[test]
fn output_is_traced_until_an_incomplete_pdu() {
    let mut out = octets(&Pdu::EnquireLink, CommandStatus::OK);
    out.extend_from_slice(&octets(&Pdu::SubmitSm(SubmitSm::default()), CommandStatus::OK));
    let traced = |octets: &[u8]| {
        let all = describe_all(octets, ReceiptDialect::Standard);
        all.map(|traced| traced.command.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(traced(&out), ["enquire_link", "submit_sm"]);
    assert_eq!(traced(&out[..out.len() - 1]), ["enquire_link"]);
    assert_eq!(traced(&out[..10]), [""; 0]);
    assert_eq!(traced(&[0; 64]), [""; 0], "a length of nothing");
    assert_eq!(traced(&[0xff; 64]), [""; 0], "a length beyond the octets");
}
