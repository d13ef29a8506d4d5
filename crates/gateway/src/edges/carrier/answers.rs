//! What a carrier's words mean for a part. One table, in the order of how sure we are that trying again helps.

use hermod_domain::ids::RemoteId;
use hermod_domain::lifecycle::{RefusedFor, Verdict};
use hermod_domain::receipt::{ErrCode, Outcome};
use hermod_smpp::{CommandStatus, DeliverSm, Frame, Pdu, Receipt, ReceiptDialect, read_receipt};
use hermod_store::{Answer, ReceiptRecord};
use std::time::Duration;

/// How long a link pauses when its carrier says it goes too fast, or has no room.
const THROTTLED_PAUSE: Duration = Duration::from_secs(1);
const QUEUE_FULL_PAUSE: Duration = Duration::from_secs(5);

/// What to do with the link itself after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkNext {
    GoOn,
    Pause(Duration),
    /// The carrier thinks we are not bound: bind anew.
    Rebind,
}

/// Reads the answer to a submit_sm.
pub(super) fn read_answer(frame: &Frame) -> (Answer, LinkNext) {
    let status = frame.header.status;
    if status.is_ok() {
        return (accepted(frame), LinkNext::GoOn);
    }
    match status {
        CommandStatus::THROTTLED => (Answer::Throttled, LinkNext::Pause(THROTTLED_PAUSE)),
        CommandStatus::MSGQFUL => (Answer::Throttled, LinkNext::Pause(QUEUE_FULL_PAUSE)),
        CommandStatus::INVBNDSTS => (Answer::Temporary { status: status.0, after: None }, LinkNext::Rebind),
        CommandStatus::SYSERR | CommandStatus::X_T_APPN | CommandStatus::DELIVERYFAILURE => {
            (Answer::Temporary { status: status.0, after: None }, LinkNext::GoOn)
        }
        CommandStatus::INVDSTADR | CommandStatus::INVDSTTON | CommandStatus::INVDSTNPI => {
            (Answer::Refused { about: RefusedFor::Destination, status: status.0 }, LinkNext::GoOn)
        }
        // The route says no, the message is no good, we are wrong, or nobody knows: not retried.
        _ => (Answer::Refused { about: RefusedFor::Anything, status: status.0 }, LinkNext::GoOn),
    }
}

fn accepted(frame: &Frame) -> Answer {
    let remote = match frame.decode() {
        Ok(Pdu::SubmitSmResp(answer)) => RemoteId::from_octets(answer.message_id).ok(),
        Ok(_) | Err(_) => None,
    };
    // Success without an id is no use for matching receipts, and no proof either: in doubt.
    remote.map_or(Answer::NoAnswer, Answer::Accepted)
}

/// What came in on a link by itself.
pub(super) enum Incoming {
    Receipt(ReceiptRecord),
    /// A receipt that names no message: nothing can ever be done with it.
    Nameless,
    /// A message from a handset.
    Message,
}

pub(super) fn read_deliver_sm(sequence: u32, deliver_sm: &DeliverSm<'_>) -> Incoming {
    let Some(receipt) = read_receipt(deliver_sm, ReceiptDialect::Standard) else { return Incoming::Message };
    let Some(remote) = receipt.message_id.and_then(|id| RemoteId::from_octets(id).ok()) else {
        return Incoming::Nameless;
    };
    let stat = receipt.stat.map(String::from_utf8_lossy);
    let outcome = Outcome::read(receipt.message_state, stat.as_deref());
    Incoming::Receipt(ReceiptRecord {
        sequence,
        remote,
        verdict: Verdict::of(&outcome),
        err: err_code(&receipt).get(),
    })
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
    use hermod_smpp::{Address, Hidden, SubmitSmResp, Tag, TlvBuffer, encode, esm_class, next_frame};

    fn frame(pdu: &Pdu<'_>, status: CommandStatus) -> Frame {
        let mut bytes = BytesMut::new();
        encode(pdu, status, 7, &mut bytes).unwrap();
        next_frame(&mut bytes, 16_384).unwrap().unwrap()
    }

    #[track_caller]
    fn check(status: CommandStatus, expect: &str) {
        let answer = frame(&Pdu::SubmitSmResp(SubmitSmResp::default()), status);
        assert_eq!(format!("{:?}", read_answer(&answer)), expect, "{status}");
    }

    #[test]
    fn each_status_has_its_consequence() {
        check(CommandStatus::THROTTLED, "(Throttled, Pause(1s))");
        check(CommandStatus::MSGQFUL, "(Throttled, Pause(5s))");
        check(CommandStatus::SYSERR, "(Temporary { status: 8, after: None }, GoOn)");
        check(CommandStatus::X_T_APPN, "(Temporary { status: 100, after: None }, GoOn)");
        check(CommandStatus::DELIVERYFAILURE, "(Temporary { status: 254, after: None }, GoOn)");
        check(CommandStatus::INVBNDSTS, "(Temporary { status: 4, after: None }, Rebind)");
        check(CommandStatus::INVDSTADR, "(Refused { about: Destination, status: 11 }, GoOn)");
        check(CommandStatus::SUBMITFAIL, "(Refused { about: Anything, status: 69 }, GoOn)");
        check(CommandStatus(0x0400), "(Refused { about: Anything, status: 1024 }, GoOn)");
    }

    #[test]
    fn success_needs_an_id_to_be_sure_of() {
        let named = SubmitSmResp { message_id: b"0A1b", ..SubmitSmResp::default() };
        let (answer, _) = read_answer(&frame(&Pdu::SubmitSmResp(named), CommandStatus::OK));
        assert_eq!(answer, Answer::Accepted(RemoteId::from_octets(b"0A1b").unwrap()));
        let (answer, _) = read_answer(&frame(&Pdu::SubmitSmResp(SubmitSmResp::default()), CommandStatus::OK));
        assert_eq!(answer, Answer::NoAnswer);
    }

    fn deliver_sm(class: u8, text: &'static [u8]) -> DeliverSm<'static> {
        DeliverSm {
            source: Address::international(b"491701234567"),
            esm_class: class,
            short_message: Hidden(text),
            ..DeliverSm::default()
        }
    }

    #[track_caller]
    fn check_receipt(text: &'static [u8], expect: Option<(&[u8], Verdict, u16)>) {
        match read_deliver_sm(9, &deliver_sm(esm_class::RECEIPT, text)) {
            Incoming::Receipt(ReceiptRecord { sequence, remote, verdict, err }) => {
                assert_eq!(sequence, 9);
                assert_eq!(Some((remote.octets(), verdict, err)), expect);
            }
            Incoming::Nameless => assert_eq!(expect, None),
            Incoming::Message => panic!("taken for a message from a handset"),
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
    fn the_tlvs_of_a_receipt_win_over_its_text() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"99").push_u8(Tag::MESSAGE_STATE, 5);
        let receipt =
            DeliverSm { tlvs: tlvs.as_tlvs(), ..deliver_sm(esm_class::RECEIPT, b"id:77 stat:DELIVRD") };
        let Incoming::Receipt(record) = read_deliver_sm(1, &receipt) else { panic!("no receipt") };
        assert_eq!((record.remote.octets(), record.verdict), (&b"99"[..], Verdict::Undeliverable));
    }

    #[test]
    fn a_text_that_looks_like_a_receipt_is_still_a_message() {
        assert!(matches!(read_deliver_sm(1, &deliver_sm(0, b"id:77 stat:DELIVRD")), Incoming::Message));
    }
}
