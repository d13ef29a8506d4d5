//! A link's receipts: sent when they are due and the window has room, settled when they are answered, and given
//! back to the carrier when they are not.

use std::time::Duration;

use hermod_smpp::{CommandStatus, Pdu};

use super::{Desk, Link};
use crate::carrier::receipt::{Dialect, Receipt};
use crate::carrier::record::ReceiptSent;

/// A receipt the gateway could not take for the moment is sent again after this long.
const RECEIPT_RETRY: Duration = Duration::from_secs(1);
/// Statuses of a deliver_sm_resp that ask to try again.
const TEMPORARY: [CommandStatus; 4] =
    [CommandStatus::X_T_APPN, CommandStatus::THROTTLED, CommandStatus::MSGQFUL, CommandStatus::SYSERR];

/// A receipt that was sent, and where the record notes its answer.
#[derive(Debug)]
pub(in crate::carrier) struct InFlight {
    receipt: Receipt,
    place: Option<usize>,
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
            && let Some(receipt) = desk.outbox.take_due(desk.now)
        {
            self.deliver(receipt, desk);
        }
    }

    fn deliver(&mut self, receipt: Receipt, desk: &mut Desk<'_>) {
        let dialect = if self.session.peer_is_3_4() { Dialect::WithTlvs } else { Dialect::TextOnly };
        let (at, link, outcome) = (desk.at, self.number, receipt.outcome);
        let (id, deliver_sm) = self.pen.write(&receipt, dialect, desk.wall);
        let place = desk.log.receipt_sent(|| ReceiptSent { at, link, id, outcome, answer: None });
        // The PDU borrows the receipt that its token keeps.
        let token = InFlight { receipt: receipt.clone(), place };
        let sent = self.session.request(&Pdu::DeliverSm(deliver_sm), token, desk.moment);
        sent.expect("there is room, and a receipt fits a deliver_sm");
    }

    pub(super) fn send_again(&mut self, token: InFlight, desk: &mut Desk<'_>) {
        desk.log.counts().receipts_unanswered += 1;
        desk.outbox.put_back(desk.now, token.receipt);
    }
}

/// The gateway has answered a receipt.
pub(super) fn on_answer(token: InFlight, status: CommandStatus, desk: &mut Desk<'_>) {
    desk.log.receipt_answered(token.place, status);
    if TEMPORARY.contains(&status) {
        desk.outbox.put_back(desk.now + RECEIPT_RETRY, token.receipt);
    } else {
        desk.outbox.settle();
    }
}
