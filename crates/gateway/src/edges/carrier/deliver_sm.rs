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
        carrier::ReceiptSyntax::Commas => ReceiptDialect::Commas,
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
#[path = "deliver_sm_tests.rs"]
mod tests;
