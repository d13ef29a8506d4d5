//! What a carrier says by itself: receipts, and messages from handsets.

use crate::edges::carrier::handset;
use hermod_domain::carrier::{self, DefaultAlphabet, Profile};
use hermod_domain::ids::{REMOTE_ID_OCTETS_MAX, RemoteId};
use hermod_domain::inbound::InboundPart;
use hermod_domain::lifecycle::Verdict;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{ErrCode, Outcome};
use hermod_domain::sender::Sender;
use hermod_smpp::{Address, Frame, Pdu, Receipt, ReceiptDialect, read_data_sm_receipt, read_receipt};
use hermod_store::ReceiptRecord;

/// What came in on a link by itself.
pub(super) enum Incoming {
    Receipt(ReceiptRecord),
    /// A message from a handset, or a part of one.
    Message(Box<InboundPart>),
    /// Nothing that a carrier has to ask of us.
    Other,
}

/// Reads a request of a carrier. Receipts come as deliver_sm, from some carriers as data_sm, and so do messages; whoever
/// answers one goes by the frame's own header. `zero`: what the carrier means by `data_coding` 0.
pub(super) fn read_request(frame: &Frame, dialect: ReceiptDialect, zero: DefaultAlphabet) -> Incoming {
    let sequence = frame.header.sequence;
    match frame.decode() {
        Ok(Pdu::DeliverSm(pdu)) => match read_receipt(&pdu, dialect) {
            Some(receipt) => incoming(sequence, pdu.source, pdu.destination, &receipt),
            None => Incoming::Message(Box::new(handset::of_deliver_sm(&pdu, zero))),
        },
        Ok(Pdu::DataSm(pdu)) => match read_data_sm_receipt(&pdu, dialect) {
            Some(receipt) => incoming(sequence, pdu.source, pdu.destination, &receipt),
            None => Incoming::Message(Box::new(handset::of_data_sm(&pdu, zero))),
        },
        Ok(_) | Err(_) => Incoming::Other,
    }
}

/// The shape of a carrier's receipts, as its profile has it.
pub(super) fn dialect(profile: &Profile) -> ReceiptDialect {
    match profile.receipts {
        carrier::ReceiptDialect::Standard => ReceiptDialect::Standard,
        carrier::ReceiptDialect::Commas => ReceiptDialect::COMMAS,
    }
}

fn incoming(
    sequence: u32,
    source: Address<'_>,
    destination: Address<'_>,
    receipt: &Receipt<'_>,
) -> Incoming {
    let stat = receipt.stat.map(String::from_utf8_lossy);
    let outcome = Outcome::read(receipt.message_state, stat.as_deref());
    Incoming::Receipt(ReceiptRecord {
        sequence,
        remote: receipt.message_id.and_then(remote_id),
        verdict: Verdict::of(&outcome),
        err: err_code(receipt).get(),
        word: match outcome {
            Outcome::Unrecognised(word) if !word.is_empty() => Some(word),
            _ => None,
        },
        source: number(source.value),
        sender: sender(destination.value),
    })
}

/// An id that is too long is cut: its beginning still tells repeated receipts from others.
fn remote_id(id: &[u8]) -> Option<RemoteId> {
    RemoteId::from_octets(id.get(..REMOTE_ID_OCTETS_MAX).unwrap_or(id)).ok()
}

/// Who sent the message that a receipt is about.
fn sender(address: &[u8]) -> Option<Sender> {
    Sender::parse(std::str::from_utf8(address).ok()?).ok()
}

/// Whom a receipt is about: with or without what carriers put before a number.
fn number(address: &[u8]) -> Option<Msisdn> {
    let digits = std::str::from_utf8(address).ok()?.trim_start_matches('+').trim_start_matches('0');
    Msisdn::parse_digits(digits).ok()
}

fn err_code(receipt: &Receipt<'_>) -> ErrCode {
    if let Some(network) = receipt.network_error {
        return ErrCode::of_network_error(network.to_bytes());
    }
    receipt.text.err.map_or(ErrCode::NONE, |err| ErrCode::of_word(&String::from_utf8_lossy(err)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use hermod_smpp::{
        CommandStatus, DataSm, DeliverSm, Hidden, Tag, TlvBuffer, encode, esm_class, next_frame,
    };

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
        read_request(&frame(pdu), ReceiptDialect::Standard, DefaultAlphabet::Gsm)
    }

    #[track_caller]
    fn check_receipt(text: &'static [u8], expect: Option<(&[u8], Verdict, u16)>) {
        match read(&Pdu::DeliverSm(deliver_sm(esm_class::RECEIPT, text))) {
            Incoming::Receipt(ReceiptRecord { sequence, remote, verdict, err, .. }) => {
                assert_eq!(sequence, 7);
                assert_eq!(remote.as_ref().map(|remote| (remote.octets(), verdict, err)), expect);
            }
            Incoming::Message(_) | Incoming::Other => panic!("taken for something else"),
        }
    }

    #[test]
    fn receipts_are_read_from_their_text() {
        check_receipt(
            b"id:77 sub:001 dlvrd:001 submit date:2611150101 done date:2611150102 stat:DELIVRD err:000 text:",
            Some((b"77", Verdict::Delivered, 0)),
        );
        check_receipt(b"id:7A stat:UNDELIV err:012", Some((b"7A", Verdict::Undeliverable, 12)));
        check_receipt(b"id:7A stat:BUFFRED", Some((b"7A", Verdict::Enroute, 0)));
        check_receipt(b"id:7A stat:WHATEVR", Some((b"7A", Verdict::NoNews, 0)));
        check_receipt(b"stat:DELIVRD err:000", None);
    }

    #[test]
    fn a_receipt_says_whom_it_is_about_and_a_word_nobody_knows() {
        let told = |source: &'static [u8], text| {
            let source = Address::international(source);
            match read(&Pdu::DeliverSm(DeliverSm { source, ..deliver_sm(esm_class::RECEIPT, text) })) {
                Incoming::Receipt(ReceiptRecord { source, word, .. }) => {
                    (source.map(Msisdn::digits), word.map(String::from))
                }
                Incoming::Message(_) | Incoming::Other => panic!("it is a receipt"),
            }
        };
        let number = Some("491701234567".to_owned());
        assert_eq!(told(b"491701234567", b"id:7 stat:DELIVRD"), (number.clone(), None));
        assert_eq!(told(b"+491701234567", b"id:7 stat:UNKNOWN"), (number.clone(), None));
        assert_eq!(told(b"00491701234567", b"id:7 stat:ODD"), (number, Some("ODD".to_owned())));
        assert_eq!(told(b"Hermod", b"id:7 stat:DELIVRD"), (None, None));
        assert_eq!(told(b"\xff", b"id:7 stat:DELIVRD"), (None, None));
    }

    #[test]
    fn the_tlvs_of_a_receipt_win_over_its_text() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 5);
        let receipt =
            DeliverSm { tlvs: tlvs.as_tlvs(), ..deliver_sm(esm_class::RECEIPT, b"id:77 stat:DELIVRD") };
        let Incoming::Receipt(record) = read(&Pdu::DeliverSm(receipt)) else { panic!("no receipt") };
        assert_eq!((id_of(&record), record.verdict), (&b"99"[..], Verdict::Undeliverable));
    }

    #[test]
    fn a_text_that_looks_like_a_receipt_is_still_a_message() {
        let written = deliver_sm(0, b"id:77 stat:DELIVRD");
        assert!(matches!(read(&Pdu::DeliverSm(written)), Incoming::Message(_)));
    }

    #[test]
    fn receipts_come_as_data_sm_too_and_other_requests_are_none() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 2);
        let receipt = DataSm { esm_class: esm_class::RECEIPT, tlvs: tlvs.as_tlvs(), ..DataSm::default() };
        let Incoming::Receipt(record) = read(&Pdu::DataSm(receipt)) else { panic!("no receipt") };
        assert_eq!((id_of(&record), record.verdict), (&b"99"[..], Verdict::Delivered));

        let mut tlvs = TlvBuffer::new();
        tlvs.push(Tag::MESSAGE_PAYLOAD, b"id:77 stat:DELIVRD");
        let message = DataSm { tlvs: tlvs.as_tlvs(), ..DataSm::default() };
        assert!(matches!(read(&Pdu::DataSm(message)), Incoming::Message(_)));
        assert!(matches!(read(&Pdu::EnquireLink), Incoming::Other));
    }

    #[test]
    fn receipts_are_read_in_the_dialect_of_their_carrier() {
        let commas = Profile { receipts: carrier::ReceiptDialect::Commas, ..Profile::default() };
        let pdu = Pdu::DeliverSm(deliver_sm(esm_class::RECEIPT, b"7A,UNDELIV,012,2611150101,2611150102"));
        let read = |dialect| read_request(&frame(&pdu), dialect, DefaultAlphabet::Gsm);
        let Incoming::Receipt(record) = read(dialect(&commas)) else { panic!("no receipt") };
        assert_eq!(
            (id_of(&record), record.verdict, record.err),
            (&b"7A"[..], Verdict::Undeliverable, 12)
        );
        let Incoming::Receipt(standard) = read(dialect(&Profile::default())) else { panic!("no receipt") };
        assert_eq!(standard.remote, None);
    }
}
