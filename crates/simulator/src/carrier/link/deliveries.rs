//! What a link brings: receipts and messages from handsets, sent when they are due and the window has room, settled
//! when they are answered, and given back to the carrier when they are not.

use std::time::Duration;

use bytes::BytesMut;
use hermod_smpp::{
    Address, CommandId, CommandStatus, DeliverSm, HEADER_BYTES, Hidden, Pdu, Tag, TlvBuffer, encode,
};

use super::{Link, LinkContext};
use crate::carrier::mo::MoPart;
use crate::carrier::receipt::{Dialect, Receipt};
use crate::carrier::record::{MoSent, ReceiptSent};

/// ByteStream of an address at most (SMPP v3.4 §4.6.1).
const ADDRESS_BYTES_MAX: usize = 20;
/// Where the source stands in a deliver_sm without service_type: behind its null and the type of number.
const EMPTY_SOURCE_AT: usize = 3;
/// Two characters more than allowed, in front of the null of an empty service_type.
const LONG_SERVICE_TYPE: &[u8] = b"SMSCSIM";
/// A receipt the gateway could not take for the moment is sent again after this long.
const RECEIPT_RETRY: Duration = Duration::from_secs(1);
/// Statuses of a deliver_sm_resp that ask to try again.
const TEMPORARY: [CommandStatus; 4] =
    [CommandStatus::X_T_APPN, CommandStatus::THROTTLED, CommandStatus::MSGQFUL, CommandStatus::SYSERR];

/// Something that was sent, and where the record notes its answer.
#[derive(Debug)]
pub(in crate::carrier) struct InFlight {
    delivery: Delivery,
    place: Option<usize>,
}

#[derive(Debug)]
enum Delivery {
    Receipt(Receipt),
    Mo(Box<MoPart>),
}

impl Link {
    /// Sends receipts that go before their answers, each followed by its answer once all of them are out.
    pub(super) fn send_overtaking(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && let Some(mut first) = self.overtaken.pop_front()
        {
            while self.session.window_free() > 0
                && let Some(receipt) = first.receipts.pop_front()
            {
                context.outbox.note_in_flight();
                self.deliver(receipt, context);
            }
            if !first.receipts.is_empty() {
                self.overtaken.push_front(first);
                return;
            }
            self.promise_answer(first.due, first.promised, context);
        }
    }

    pub(super) fn send_receipts(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(receipt) = context.outbox.take_due(self.number, context.now)
        {
            self.deliver(receipt, context);
        }
    }

    /// Sends what handsets have said.
    pub(super) fn send_said(&mut self, context: &mut LinkContext<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(part) = context.outbox.take_said(self.number, context.now)
        {
            self.pass_on_said(part, context);
        }
    }

    fn deliver(&mut self, receipt: Receipt, context: &mut LinkContext<'_>) {
        let dialect = if self.session.peer_is_3_4() { Dialect::WithTlvs } else { Dialect::TextOnly };
        let (at, link, outcome, malformed) = (context.at, self.number, receipt.outcome, receipt.malformed);
        let is_long = receipt.wording.long_service_type;
        let (id, pdu) = self.writer.write(&receipt, dialect, context.wall);
        let place =
            context.log.receipt_sent(|| ReceiptSent { at, link, id, outcome, malformed, answer: None });
        // The PDU borrows the receipt that its token keeps.
        let token = InFlight { delivery: Delivery::Receipt(receipt.clone()), place };
        let sent = if malformed {
            let half = half_of(&pdu);
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&half)), token, context.moment)
        } else if is_long {
            let body = [LONG_SERVICE_TYPE, &body_of(&pdu)].concat();
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&body)), token, context.moment)
        } else {
            self.session.request(&pdu, token, context.moment)
        };
        sent.expect("there is room, and a receipt fits a deliver_sm");
    }

    fn pass_on_said(&mut self, part: MoPart, context: &mut LinkContext<'_>) {
        let mut tlvs = TlvBuffer::new();
        for (tag, value) in &part.tlvs {
            tlvs.push(Tag(*tag), value);
        }
        if part.in_payload {
            tlvs.push(Tag::MESSAGE_PAYLOAD, &part.octets);
        }
        // A number that does not fit is put in place of a short one.
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
        let place = context.log.mo_sent(|| MoSent { at, link, part: part.clone(), answer: None });
        let token = InFlight { delivery: Delivery::Mo(Box::new(part.clone())), place };
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
            // Longer than its PDU can hold: a mistake of whoever said it.
            context.log.counts().protocol_errors += 1;
        }
    }
}

/// A reply goes to whatever the message came from, be it a name.
fn address(text: &str) -> Address<'_> {
    if text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        Address::alphanumeric(text.as_bytes())
    } else {
        Address::international(text.as_bytes())
    }
}

/// The first half of a body: it ends before its fields do.
fn half_of(pdu: &Pdu<'_>) -> Vec<u8> {
    let body = body_of(pdu);
    body[..body.len() / 2].to_vec()
}

fn body_of(pdu: &Pdu<'_>) -> Vec<u8> {
    let mut whole = BytesMut::new();
    // What cannot be written at all has no body.
    let _ = encode(pdu, CommandStatus::OK, 1, &mut whole);
    whole.get(HEADER_BYTES..).unwrap_or_default().to_vec()
}

/// It was not answered, and goes out again.
pub(super) fn send_again(token: InFlight, context: &mut LinkContext<'_>) {
    match token.delivery {
        Delivery::Receipt(receipt) => {
            context.log.counts().receipts_unanswered += 1;
            context.outbox.put_back(context.now, receipt);
        }
        // The link it was meant for may be gone.
        Delivery::Mo(part) => context.outbox.say_again(context.now, MoPart { link: None, ..*part }),
    }
}

/// The gateway has answered.
pub(super) fn on_answer(token: InFlight, status: CommandStatus, context: &mut LinkContext<'_>) {
    let InFlight { delivery, place } = token;
    let again = TEMPORARY.contains(&status).then_some(context.now + RECEIPT_RETRY);
    match delivery {
        Delivery::Receipt(receipt) => {
            context.log.receipt_answered(place, status);
            match again {
                Some(due) if !receipt.malformed => context.outbox.put_back(due, receipt),
                _ => context.outbox.settle(),
            }
        }
        Delivery::Mo(part) => {
            context.log.mo_answered(place, status);
            if let Some(due) = again
                && !part.malformed
            {
                context.outbox.say_again(due, *part);
            }
        }
    }
}
