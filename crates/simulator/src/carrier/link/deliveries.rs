//! Receipts and MO messages on a link: sent when they are due and the window has room, completed by the gateway's response,
//! and put back into the outbox without one.

use std::time::Duration;

use bytes::BytesMut;
use hermod_smpp::{
    Address, CommandId, CommandStatus, DeliverSm, HEADER_BYTES, Hidden, Pdu, Tag, TlvBuffer, encode,
};

use super::{LinkContext, SimulatedLink};
use crate::carrier::mo::MoPart;
use crate::carrier::receipt::{PendingReceipt, TlvSupport};
use crate::carrier::record::{MoSent, ReceiptSent};

/// Octets of an address (SMPP v3.4 §4.6.1).
const ADDRESS_BYTES_MAX: usize = 20;
/// Offset of source_addr in a deliver_sm with an empty service_type: after its null, TON and NPI.
const EMPTY_SOURCE_AT: usize = 3;
/// Two characters more than allowed; the null of the empty service_type follows.
const LONG_SERVICE_TYPE: &[u8] = b"SMSCSIM";
/// Time until a delivery with a temporary error is sent again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Statuses of a deliver_sm_resp that ask for a retry.
const TEMPORARY: [CommandStatus; 4] =
    [CommandStatus::X_T_APPN, CommandStatus::THROTTLED, CommandStatus::MSGQFUL, CommandStatus::SYSERR];

/// A deliver_sm or data_sm without a response.
#[derive(Debug)]
pub(in crate::carrier) struct InFlight {
    delivery: Delivery,
    /// Its entry in the record, where the response is noted.
    entry: Option<usize>,
}

#[derive(Debug)]
enum Delivery {
    Receipt(PendingReceipt),
    Mo(Box<MoPart>),
}

impl SimulatedLink {
    /// Sends the receipts that precede their responses, and queues each response after its last receipt.
    pub(super) fn send_receipts_before_responses(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && let Some(mut first) = self.awaiting_receipts.pop_front()
        {
            while self.session.window_free() > 0
                && let Some(receipt) = first.receipts.pop_front()
            {
                context.outbox.note_in_flight();
                self.send_receipt(receipt, context);
            }
            if !first.receipts.is_empty() {
                self.awaiting_receipts.push_front(first);
                return;
            }
            self.queue_response(first.due, first.response, context);
        }
    }

    pub(super) fn send_due_receipts(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(receipt) = context.outbox.take_due(self.number, context.now)
        {
            self.send_receipt(receipt, context);
        }
    }

    pub(super) fn send_due_mo(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(part) = context.outbox.take_due_mo(self.number, context.now)
        {
            self.send_mo(part, context);
        }
    }

    fn send_receipt(&mut self, receipt: PendingReceipt, context: &mut LinkContext<'_>) {
        let tlvs = if self.session.peer_is_3_4() { TlvSupport::Yes } else { TlvSupport::No };
        let (at, link, outcome, malformed) = (context.at, self.number, receipt.outcome, receipt.malformed);
        let is_long = receipt.format.long_service_type;
        let (id, pdu) = self.receipt_writer.write(&receipt, tlvs, context.date);
        let entry =
            context.log.receipt_sent(|| ReceiptSent { at, link, id, outcome, malformed, response: None });
        // The PDU borrows the receipt, so the token needs a copy.
        let token = InFlight { delivery: Delivery::Receipt(receipt.clone()), entry };
        let sent = if malformed {
            let half = half_of(&pdu);
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&half)), token, context.moment)
        } else if is_long {
            let body = [LONG_SERVICE_TYPE, &body_of(&pdu)].concat();
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&body)), token, context.moment)
        } else {
            self.session.request(&pdu, token, context.moment)
        };
        sent.expect("the window has room, and a receipt fits into a deliver_sm");
    }

    fn send_mo(&mut self, part: MoPart, context: &mut LinkContext<'_>) {
        let mut tlvs = TlvBuffer::new();
        for (tag, value) in &part.tlvs {
            tlvs.push(Tag(*tag), value);
        }
        if part.in_payload {
            tlvs.push(Tag::MESSAGE_PAYLOAD, &part.octets);
        }
        // An address that is too long is inserted after encoding.
        let is_long = part.source.len() > ADDRESS_BYTES_MAX;
        let source = if is_long { "" } else { part.source.as_str() };
        let pdu = Pdu::DeliverSm(DeliverSm {
            source: address(source),
            destination: address(&part.destination),
            esm_class: part.esm_class,
            data_coding: part.data_coding,
            short_message: Hidden(if part.in_payload { b"" } else { &part.octets }),
            tlvs: tlvs.as_tlvs(),
            ..DeliverSm::default()
        });
        let (at, link) = (context.at, self.number);
        let entry = context.log.mo_sent(|| MoSent { at, link, part: part.clone(), response: None });
        let token = InFlight { delivery: Delivery::Mo(Box::new(part.clone())), entry };
        let sent = if part.malformed {
            let half = half_of(&pdu);
            self.session.request(&Pdu::Unknown(CommandId::DELIVER_SM, Hidden(&half)), token, context.moment)
        } else if is_long {
            let mut body = body_of(&pdu);
            body.splice(EMPTY_SOURCE_AT..EMPTY_SOURCE_AT, part.source.bytes());
            self.session.request(&Pdu::Unknown(CommandId::DELIVER_SM, Hidden(&body)), token, context.moment)
        } else {
            self.session.request(&pdu, token, context.moment)
        };
        if sent.is_err() {
            // The caller's part is longer than a PDU can hold.
            context.log.counts().protocol_errors += 1;
        }
    }
}

/// Returns the address of a number, or of a name (the destination of a reply may be one).
fn address(text: &str) -> Address<'_> {
    if text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        Address::alphanumeric(text.as_bytes())
    } else {
        Address::international(text.as_bytes())
    }
}

/// Returns the first half of a body, which ends before its fields do.
fn half_of(pdu: &Pdu<'_>) -> Vec<u8> {
    let body = body_of(pdu);
    body[..body.len() / 2].to_vec()
}

fn body_of(pdu: &Pdu<'_>) -> Vec<u8> {
    let mut whole = BytesMut::new();
    // A PDU that cannot be encoded has no body.
    let _ = encode(pdu, CommandStatus::OK, 1, &mut whole);
    whole.get(HEADER_BYTES..).unwrap_or_default().to_vec()
}

/// Puts a delivery without a response back into the outbox.
pub(super) fn requeue(token: InFlight, context: &mut LinkContext<'_>) {
    match token.delivery {
        Delivery::Receipt(receipt) => {
            context.log.counts().receipts_unanswered += 1;
            context.outbox.put_back(context.now, receipt);
        }
        // The link it names may have ended.
        Delivery::Mo(part) => context.outbox.put_back_mo(context.now, MoPart { link: None, ..*part }),
    }
}

/// Completes a delivery by the gateway's response, or queues it again after a temporary error.
pub(super) fn on_response(token: InFlight, status: CommandStatus, context: &mut LinkContext<'_>) {
    let InFlight { delivery, entry } = token;
    let retry = TEMPORARY.contains(&status).then_some(context.now + RETRY_AFTER);
    match delivery {
        Delivery::Receipt(receipt) => {
            context.log.receipt_response(entry, status);
            match retry {
                Some(due) if !receipt.malformed => context.outbox.put_back(due, receipt),
                _ => context.outbox.complete(),
            }
        }
        Delivery::Mo(part) => {
            context.log.mo_response(entry, status);
            if let Some(due) = retry
                && !part.malformed
            {
                context.outbox.put_back_mo(due, *part);
            }
        }
    }
}
