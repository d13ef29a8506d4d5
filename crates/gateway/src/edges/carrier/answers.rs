//! What a carrier says by itself: receipts, and messages from handsets.

use hermod_domain::ids::RemoteId;
use hermod_domain::lifecycle::Verdict;
use hermod_domain::receipt::{ErrCode, Outcome};
use hermod_smpp::{DeliverSm, Receipt, ReceiptDialect, read_receipt};
use hermod_store::ReceiptRecord;

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
    use hermod_smpp::{Address, Hidden, Tag, TlvBuffer, esm_class};

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
