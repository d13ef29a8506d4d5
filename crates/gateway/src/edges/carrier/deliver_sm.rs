//! Reads a carrier's deliver_sm or data_sm: a delivery receipt (DLR) or an MO message.

use crate::edges::carrier::mo;
use hermod_domain::carrier::{self, DefaultAlphabet, Profile};
use hermod_domain::ids::{REMOTE_ID_OCTETS_MAX, RemoteId};
use hermod_domain::inbound::InboundPart;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{ErrCode, ReceiptStatus, ReceiptWords};
use hermod_domain::sender::Sender;
use hermod_smpp::{Address, DataSm, DeliverSm, Frame, Hidden, Pdu, Receipt, ReceiptDialect, read_receipt};
use hermod_store::ReceiptRecord;

/// A request that a carrier sent to us.
pub(super) enum Incoming {
    Receipt(ReceiptRecord),
    /// An MO message, or one part of it.
    Message(Box<InboundPart>),
    /// Not a request that a carrier may send.
    Other,
}

/// Reads a request of a carrier. Receipts and MO messages come as deliver_sm, from some carriers as data_sm; the
/// response must match the command in the frame's header. `zero` is the alphabet of `data_coding` 0. Calls `on_cut`
/// with the name of a field that was too long or unterminated and was cut.
pub(super) fn read_request(
    frame: &Frame,
    dialect: ReceiptDialect,
    zero: DefaultAlphabet,
    on_cut: impl FnOnce(&'static str),
) -> Incoming {
    let sequence = frame.header.sequence;
    let Ok((pdu, cut)) = frame.decode_from_carrier() else { return Incoming::Other };
    if let Some(field) = cut {
        on_cut(field);
    }
    match pdu {
        Pdu::DeliverSm(pdu) => read_as_receipt(sequence, &pdu, dialect)
            .unwrap_or_else(|| Incoming::Message(Box::new(mo::of_deliver_sm(&pdu, zero)))),
        Pdu::DataSm(pdu) => {
            let DataSm { source, destination, esm_class, data_coding, tlvs, .. } = pdu;
            let same =
                DeliverSm { source, destination, esm_class, data_coding, tlvs, ..DeliverSm::default() };
            read_as_receipt(sequence, &same, dialect)
                .unwrap_or_else(|| Incoming::Message(Box::new(mo::of_data_sm(&pdu, zero))))
        }
        _ => Incoming::Other,
    }
}

/// Returns `None` if the PDU is not a receipt.
fn read_as_receipt(sequence: u32, pdu: &DeliverSm<'_>, dialect: ReceiptDialect) -> Option<Incoming> {
    let receipt = read_receipt(pdu, dialect)?;
    let Some(text) = narrow_ucs2(&pdu.text()) else {
        return Some(incoming(sequence, pdu.source, pdu.destination, &receipt));
    };
    let narrowed = DeliverSm { short_message: Hidden(&text), ..*pdu };
    let receipt = read_receipt(&narrowed, dialect)?;
    Some(incoming(sequence, pdu.source, pdu.destination, &receipt))
}

/// Converts a receipt text from UCS-2 to one octet per character. Returns `None` if it is not UCS-2. The first two
/// characters decide, not `data_coding`: a receipt begins with ASCII and never with a null. Characters outside Latin-1
/// can only occur in the quoted message text and become question marks.
fn narrow_ucs2(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_prefix(&[0xFE, 0xFF]).or(text.strip_prefix(&[0xFF, 0xFE])).unwrap_or(text);
    let upper = match text {
        [0, b' '..=0xFF, 0, b' '..=0xFF, ..] => 0,
        [b' '..=0xFF, 0, b' '..=0xFF, 0, ..] => 1,
        _ => return None,
    };
    let narrow = |unit: &[u8]| if unit[upper] == 0 { unit[1 - upper] } else { b'?' };
    Some(text.chunks_exact(2).map(narrow).collect())
}

/// Returns the receipt dialect of the carrier's profile.
pub(super) fn dialect(profile: &Profile) -> ReceiptDialect {
    match profile.receipts {
        carrier::ReceiptSyntax::Standard => ReceiptDialect::Standard,
        carrier::ReceiptSyntax::Commas => ReceiptDialect::COMMAS,
    }
}

fn incoming(sequence: u32, source: Address<'_>, destination: Address<'_>, receipt: &Receipt<'_>) -> Incoming {
    let stat = receipt.stat.map(String::from_utf8_lossy);
    let outcome = ReceiptStatus::read(receipt.message_state, stat.as_deref());
    Incoming::Receipt(ReceiptRecord {
        sequence,
        remote: receipt.message_id.and_then(remote_id),
        verdict: DeliveryOutcome::of(&outcome),
        err: err_code(receipt).get(),
        word: match outcome {
            ReceiptStatus::Unrecognised(word) if !word.is_empty() => Some(word),
            _ => None,
        },
        words: ReceiptWords::new(receipt.stat, receipt.text.err),
        source: number(source.value),
        sender: sender(destination.value),
    })
}

/// Cuts an id that is too long: its beginning still identifies repeated receipts.
fn remote_id(id: &[u8]) -> Option<RemoteId> {
    RemoteId::from_octets(id.get(..REMOTE_ID_OCTETS_MAX).unwrap_or(id)).ok()
}

/// Returns the sender of the message that a receipt is about.
fn sender(address: &[u8]) -> Option<Sender> {
    Sender::parse(std::str::from_utf8(address).ok()?).ok()
}

/// Returns the recipient that a receipt is about. Carriers write it with or without `+` or leading zeros.
fn number(address: &[u8]) -> Option<Msisdn> {
    let digits = std::str::from_utf8(address).ok()?.trim_start_matches('+').trim_start_matches('0');
    Msisdn::parse_digits(digits).ok()
}

fn err_code(receipt: &Receipt<'_>) -> ErrCode {
    if let Some(network) = receipt.network_error {
        return ErrCode::of_network_error(network.to_bytes());
    }
    receipt.text.err.map_or(ErrCode::NONE, |err| ErrCode::parse(&String::from_utf8_lossy(err)))
}

#[cfg(test)]
mod tests {
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
        let receipt =
            DeliverSm { tlvs: tlvs.as_tlvs(), ..deliver_sm(esm_class::RECEIPT, b"id:77 stat:DELIVRD") };
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
}
