//! Properties that hold for all inputs.

use bytes::BytesMut;
use hermod_smpp::time::{Absolute, Relative, SmppTime};
use hermod_smpp::*;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::made::Maker;
use crate::printed::{PDU_BYTES_MAX, meaning};

fn framed(octets: &[u8]) -> Frame {
    let mut buf = BytesMut::from(octets);
    let frame =
        next_frame(&mut buf, PDU_BYTES_MAX).expect("the length is right").expect("the frame is whole");
    assert!(buf.is_empty());
    frame
}

/// Runs `law` on a valid PDU of any kind made from the pools.
fn with_pdu(strings: &[u8], values: &[u8], law: impl FnOnce(&Pdu<'_>)) {
    let mut maker = Maker::new(strings, values);
    let (mut tlvs, mut destinations, mut unsuccessful) = Default::default();
    maker.tlvs(&mut tlvs);
    maker.destinations(&mut destinations);
    maker.unsuccessful(&mut unsuccessful);
    law(&maker.pdu(tlvs.as_tlvs(), destinations.as_destinations(), unsuccessful.as_unsuccessful()));
}

/// Returns the PDU with another text or password, if it has one.
fn with_text<'a>(pdu: Pdu<'a>, text: &'a [u8], tlvs: Tlvs<'a>) -> Pdu<'a> {
    let short_message = Hidden(&text[..text.len().min(254)]);
    match pdu {
        Pdu::SubmitSm(pdu) => Pdu::SubmitSm(SubmitSm { short_message, tlvs, ..pdu }),
        Pdu::SubmitMulti(pdu) => Pdu::SubmitMulti(SubmitMulti { short_message, tlvs, ..pdu }),
        Pdu::ReplaceSm(pdu) => Pdu::ReplaceSm(ReplaceSm { short_message, ..pdu }),
        Pdu::DeliverSm(pdu) => Pdu::DeliverSm(DeliverSm { esm_class: 0, short_message, tlvs, ..pdu }),
        Pdu::DataSm(pdu) => Pdu::DataSm(DataSm { esm_class: 0, tlvs, ..pdu }),
        Pdu::Unknown(command, _) => Pdu::Unknown(command, Hidden(text)),
        Pdu::SubmitSmResp(pdu) => Pdu::SubmitSmResp(SubmitSmResp { tlvs, ..pdu }),
        other => other,
    }
}

fn strings() -> impl Strategy<Value = Vec<u8>> {
    vec(1..=u8::MAX, 0..600)
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..1_200)
}

/// Generates a body for a known command, mostly invalid, sometimes nearly valid.
fn random_body() -> impl Strategy<Value = (CommandId, Vec<u8>)> {
    let octet = prop_oneof![3 => Just(0u8), 2 => 1..=8u8, 5 => any::<u8>()];
    (proptest::sample::select(CommandId::ALL), vec(octet, 0..200))
}

fn with_header(command: CommandId, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + HEADER_BYTES).expect("short");
    let header = [length, command.0, 0, 7].map(u32::to_be_bytes).concat();
    [header.as_slice(), body].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoded_pdu_decodes_to_the_same_pdu(
        strings in strings(), values in values(), sequence: u32, before in vec(any::<u8>(), 0..20)
    ) {
        with_pdu(&strings, &values, |pdu| {
            let mut out = BytesMut::from(&before[..]);
            encode(pdu, CommandStatus::OK, sequence, &mut out).expect("the PDU is valid");
            assert_eq!(&out[..before.len()], &before[..], "existing octets are kept");
            let frame = framed(&out[before.len()..]);
            assert_eq!(frame.header.sequence, sequence);
            assert_eq!(frame.header.command, pdu.command());
            assert_eq!(frame.decode(), Ok(*pdu));
        });
    }

    #[test]
    fn error_response_is_encoded_without_a_body(strings in strings(), values in values(), status in 1u32..) {
        with_pdu(&strings, &values, |pdu| {
            let mut out = BytesMut::new();
            encode(pdu, CommandStatus(status), 1, &mut out).expect("the PDU is valid");
            let frame = framed(&out);
            assert_eq!(frame.header.status, CommandStatus(status));
            assert!(!pdu.command().is_response() || frame.body().is_empty());
            assert_eq!(frame.decode().expect("decodes").command(), pdu.command());
        });
    }

    #[test]
    fn decoded_pdu_encodes_and_decodes_to_the_same_pdu((command, body) in random_body()) {
        let frame = framed(&with_header(command, &body));
        if let Ok(pdu) = frame.decode() {
            let mut out = BytesMut::new();
            encode(&pdu, CommandStatus::OK, 7, &mut out).expect("a decoded PDU can be encoded");
            assert_eq!(framed(&out).decode(), Ok(pdu));
        }
    }

    #[test]
    fn octets_after_the_command_length_are_not_read((command, body) in random_body(), behind in vec(any::<u8>(), 0..50)) {
        let octets = with_header(command, &body);
        let mut buf = BytesMut::from(&[&octets[..], &behind].concat()[..]);
        let frame = next_frame(&mut buf, PDU_BYTES_MAX).expect("the length is right").expect("whole");
        assert_eq!(frame.bytes(), &octets);
        assert_eq!(&buf[..], &behind[..]);
        assert_eq!(frame.decode().is_ok(), framed(&octets).decode().is_ok());
    }

    #[test]
    fn stream_split_at_any_octet_gives_the_same_frames(
        pdus in vec(random_body(), 1..5), cuts in vec(1usize..60, 1..200)
    ) {
        let frames: Vec<Vec<u8>> = pdus.iter().map(|(command, body)| with_header(*command, body)).collect();
        let stream = frames.concat();
        let mut rest = &stream[..];
        let mut buf = BytesMut::new();
        let mut read = Vec::new();
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at((*cuts.next().expect("endless")).min(rest.len()));
            buf.extend_from_slice(chunk);
            rest = behind;
            while let Some(frame) = next_frame(&mut buf, PDU_BYTES_MAX).expect("the lengths are right") {
                read.push(frame.bytes().to_vec());
            }
        }
        assert_eq!(read, frames);
        assert!(buf.is_empty());
    }

    #[test]
    fn trace_contains_only_the_length_of_a_text(
        strings in strings(), values in values(), texts in vec((any::<u8>(), any::<u8>()), 0..255)
    ) {
        let (one, other): (Vec<u8>, Vec<u8>) = texts.into_iter().unzip();
        with_pdu(&strings, &values, |pdu| {
            let mut lines = Vec::new();
            for text in [&one[..], &other] {
                let mut tlvs = TlvBuffer::new();
                tlvs.push(Tag::MESSAGE_PAYLOAD, text).push(Tag(0x1501), text);
                let mut out = BytesMut::new();
                encode(&with_text(*pdu, text, tlvs.as_tlvs()), CommandStatus::OK, 1, &mut out).expect("fits");
                lines.push(trace::describe(&framed(&out), ReceiptDialect::Standard).to_string());
            }
            assert_eq!(lines[0], lines[1]);
        });
    }

    #[test]
    fn any_octets_decode_or_fail_without_a_panic(octets in vec(any::<u8>(), 0..300)) {
        assert!(!meaning_of_first(&octets).is_empty());
        let _ = receipt_text::parse(&octets);
        let _ = udh::parse(&octets).map(|udh| (udh.concatenation(), udh.elements().count()));
        let _ = time::parse(&octets);
        let _ = ReceiptDate::parse(&octets);
    }

    #[test]
    fn failed_encoding_leaves_the_output_unchanged(text in vec(any::<u8>(), 66..80), before in vec(any::<u8>(), 0..20)) {
        let mut out = BytesMut::from(&before[..]);
        let pdu = Pdu::QuerySm(QuerySm { message_id: &text, ..QuerySm::default() });
        encode(&pdu, CommandStatus::OK, 1, &mut out).expect_err("the id is too long");
        let text = [&text[..30], b"\0"].concat();
        let pdu = Pdu::QuerySm(QuerySm { message_id: &text, ..QuerySm::default() });
        encode(&pdu, CommandStatus::OK, 1, &mut out).expect_err("the id holds a null");
        assert_eq!(&out[..], &before[..]);
    }

    #[test]
    fn times_parse_to_the_written_value(
        year in 1938u16..=2037, month in 1u8..=12, day in 1u8..=28, hour in 0u8..24, minute in 0u8..60,
        second in 0u8..60, tenths in 0u8..10, utc_quarters in -48i8..=48, spans: [u8; 6]
    ) {
        let absolute = Absolute { year, month, day, hour, minute, second, tenths, utc_quarters };
        let [years, months, days, hours, minutes, seconds] = spans.map(|span| span % 100);
        let relative = Relative { years, months, days, hours, minutes, seconds };
        for time in [SmppTime::Absolute(absolute), SmppTime::Relative(relative)] {
            match time.to_chars() {
                Ok(chars) => assert_eq!(time::parse(&chars), Ok(Some(time))),
                Err(_) => assert_eq!(relative, Relative::default()),
            }
        }
    }

    #[test]
    fn receipts_with_commas_parse_by_position(values in vec("[0-9A-Za-z:._-]{1,20}", 1..7)) {
        let text = values.join(",");
        let receipt = ReceiptDialect::Commas.read(text.as_bytes());
        for (name, value) in ["id", "stat", "err", "submit_date", "done_date"].into_iter().zip(&values) {
            let field = ReceiptField::ALL.into_iter().find(|field| field.name() == name).expect("a field");
            assert_eq!(receipt.get(field), Some(value.as_bytes()), "{text} {name}");
        }
    }

    #[test]
    fn any_octets_are_read_as_a_receipt_without_a_panic(octets in vec(any::<u8>(), 0..100)) {
        for dialect in [ReceiptDialect::Standard, ReceiptDialect::Commas] {
            let _ = dialect.read(&octets);
        }
    }

    #[test]
    fn receipts_parse_to_the_written_fields(
        id in "[!-+--9<-~]{1,64}", sub in 0u16..1_000, dlvrd in 0u16..1_000, stat in "[A-Z]{7}", err in "[0-9A-Z]{3}",
        text in "[ -~]{0,20}", minute in 0u8..60
    ) {
        let date = ReceiptDate { year: 2025, month: 4, day: 1, hour: 9, minute, second: 0 };
        let fields = ReceiptFields {
            id: id.as_bytes(),
            sub,
            dlvrd,
            submit_date: date,
            done_date: date,
            stat: stat.as_bytes().try_into().expect("seven letters"),
            err: err.as_bytes().try_into().expect("three letters"),
            text: Hidden(text.as_bytes()),
        };
        let mut out = BytesMut::new();
        receipt_text::write(&fields, &mut out).expect("it fits");
        let read = receipt_text::parse(&out);
        assert_eq!(read.id, Some(id.as_bytes()));
        assert_eq!(read.stat, Some(stat.as_bytes()));
        assert_eq!(read.err, Some(err.as_bytes()));
        assert_eq!(read.sub.map(<[u8]>::len), Some(3));
        assert_eq!(read.dlvrd, Some(format!("{dlvrd:03}").as_bytes()));
        assert_eq!(read.done_date.and_then(ReceiptDate::parse), Some(date));
        assert_eq!(read.submit_date.and_then(ReceiptDate::parse), Some(date));
        let edges = [' ', ',', ';'];
        assert_eq!(read.text, Some(Hidden(text.trim_matches(edges).as_bytes())));
    }
}

/// Returns the meaning of the first PDU in a stream.
fn meaning_of_first(octets: &[u8]) -> String {
    let mut buf = BytesMut::from(octets);
    match next_frame(&mut buf, PDU_BYTES_MAX) {
        Ok(Some(frame)) => meaning(frame.bytes()),
        Ok(None) | Err(_) => meaning(octets),
    }
}
