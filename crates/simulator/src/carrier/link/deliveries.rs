//! What a link brings: receipts and messages from handsets, sent when they are due and the window has room, settled
//! when they are answered, and given back to the carrier when they are not.

use std::time::Duration;

use bytes::BytesMut;
use hermod_smpp::{
    Address, CommandId, CommandStatus, DeliverSm, HEADER_BYTES, Hidden, Pdu, Tag, TlvBuffer, encode,
};

use super::{Desk, Link};
use crate::carrier::mo::MoPart;
use crate::carrier::receipt::{Dialect, Receipt};
use crate::carrier::record::{MoSent, ReceiptSent};

/// Octets of an address at most (SMPP v3.4 §4.6.1).
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
    brought: Brought,
    place: Option<usize>,
}

#[derive(Debug)]
enum Brought {
    Receipt(Receipt),
    Mo(Box<MoPart>),
}

impl Link {
    /// Sends receipts that go before their answers, each followed by its answer once all of them are out.
    pub(super) fn send_overtaking(&mut self, desk: &mut Desk<'_>) {
        while self.may_deliver()
            && let Some(mut first) = self.overtaken.pop_front()
        {
            while self.session.window_free() > 0
                && let Some(receipt) = first.receipts.pop_front()
            {
                desk.outbox.note_in_flight();
                self.deliver(receipt, desk);
            }
            if !first.receipts.is_empty() {
                self.overtaken.push_front(first);
                return;
            }
            self.promise_answer(first.due, first.promised, desk);
        }
    }

    pub(super) fn send_receipts(&mut self, desk: &mut Desk<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(receipt) = desk.outbox.take_due(self.number, desk.now)
        {
            self.deliver(receipt, desk);
        }
    }

    /// Sends what handsets have said.
    pub(super) fn send_said(&mut self, desk: &mut Desk<'_>) {
        while self.may_deliver()
            && self.session.window_free() > 0
            && let Some(part) = desk.outbox.take_said(self.number, desk.now)
        {
            self.pass_on_said(part, desk);
        }
    }

    fn deliver(&mut self, receipt: Receipt, desk: &mut Desk<'_>) {
        let dialect = if self.session.peer_is_3_4() { Dialect::WithTlvs } else { Dialect::TextOnly };
        let (at, link, outcome, malformed) = (desk.at, self.number, receipt.outcome, receipt.malformed);
        let is_long = receipt.wording.long_service_type;
        let (id, pdu) = self.pen.write(&receipt, dialect, desk.wall);
        let place = desk.log.receipt_sent(|| ReceiptSent { at, link, id, outcome, malformed, answer: None });
        // The PDU borrows the receipt that its token keeps.
        let token = InFlight { brought: Brought::Receipt(receipt.clone()), place };
        let sent = if malformed {
            let half = half_of(&pdu);
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&half)), token, desk.moment)
        } else if is_long {
            let body = [LONG_SERVICE_TYPE, &body_of(&pdu)].concat();
            self.session.request(&Pdu::Unknown(pdu.command(), Hidden(&body)), token, desk.moment)
        } else {
            self.session.request(&pdu, token, desk.moment)
        };
        sent.expect("there is room, and a receipt fits a deliver_sm");
    }

    fn pass_on_said(&mut self, part: MoPart, desk: &mut Desk<'_>) {
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
        let (at, link) = (desk.at, self.number);
        let place = desk.log.mo_sent(|| MoSent { at, link, part: part.clone(), answer: None });
        let token = InFlight { brought: Brought::Mo(Box::new(part.clone())), place };
        let sent = if part.malformed {
            let half = half_of(&pdu);
            self.session.request(&Pdu::Unknown(CommandId::DELIVER_SM, Hidden(&half)), token, desk.moment)
        } else if is_long {
            let mut body = body_of(&pdu);
            body.splice(EMPTY_SOURCE_AT..EMPTY_SOURCE_AT, part.source.bytes());
            self.session.request(&Pdu::Unknown(CommandId::DELIVER_SM, Hidden(&body)), token, desk.moment)
        } else {
            self.session.request(&pdu, token, desk.moment)
        };
        if sent.is_err() {
            // Longer than its PDU can hold: a mistake of whoever said it.
            desk.log.counts().protocol_errors += 1;
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
pub(super) fn send_again(token: InFlight, desk: &mut Desk<'_>) {
    match token.brought {
        Brought::Receipt(receipt) => {
            desk.log.counts().receipts_unanswered += 1;
            desk.outbox.put_back(desk.now, receipt);
        }
        // The link it was meant for may be gone.
        Brought::Mo(part) => desk.outbox.say_again(desk.now, MoPart { link: None, ..*part }),
    }
}

/// The gateway has answered.
pub(super) fn on_answer(token: InFlight, status: CommandStatus, desk: &mut Desk<'_>) {
    let InFlight { brought, place } = token;
    let again = TEMPORARY.contains(&status).then_some(desk.now + RECEIPT_RETRY);
    match brought {
        Brought::Receipt(receipt) => {
            desk.log.receipt_answered(place, status);
            match again {
                Some(due) if !receipt.malformed => desk.outbox.put_back(due, receipt),
                _ => desk.outbox.settle(),
            }
        }
        Brought::Mo(part) => {
            desk.log.mo_answered(place, status);
            if let Some(due) = again
                && !part.malformed
            {
                desk.outbox.say_again(due, *part);
            }
        }
    }
}
