//! A link's answers: promised when a submit comes, kept until they are due, and written as oddly as the script wants.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hermod_smpp::{CommandStatus, Header, TlvBuffer};

use super::{Desk, Fate, Link};
use crate::carrier::manner::{self, Manner};
use crate::carrier::outcome::Way;
use crate::carrier::plan::{Behaviour, Reply, Then};
use crate::carrier::receipt::Receipt;
use crate::carrier::submit;

/// A receipt that overtakes its answer on another link gets this much of a start.
const OVERTAKE: Duration = Duration::from_millis(20);
/// Octets that are no PDU: the length they claim is beyond every limit.
const GARBAGE: [u8; 32] = [0xff; 32];

/// An answer that is decided and not sent yet.
#[derive(Debug)]
pub(super) struct Promised {
    request: Header,
    answer: PromisedAnswer,
    manner: Manner,
}

#[derive(Debug)]
pub(super) enum PromisedAnswer {
    Accept { id: String, then: Then },
    Refuse(CommandStatus),
    Nack(CommandStatus),
}

/// An answer whose receipts go first.
#[derive(Debug)]
pub(super) struct Overtaken {
    pub(super) receipts: VecDeque<Receipt>,
    pub(super) due: Instant,
    pub(super) promised: Promised,
}

impl Promised {
    /// An answer written as the specification has it.
    pub(super) fn plain(request: Header, answer: PromisedAnswer) -> Promised {
        Promised { request, answer, manner: Manner::Plain }
    }
}

impl Link {
    /// Does with a submit what was decided: now, or later, or never.
    pub(super) fn carry_out(&mut self, request: Header, decided: submit::Decided, desk: &mut Desk<'_>) {
        let submit::Decided { behaviour, id, receipts, said } = decided;
        for (due, part) in said {
            self.work_for_others |= !self.may_deliver();
            // A reply that finds no room is lost, as on a phone that is switched off.
            desk.outbox.say(due, part);
        }
        let Behaviour { reply, delay, manner, receipts: script, .. } = behaviour;
        let due = desk.now + delay;
        let answer = match reply {
            Reply::Accept { then, .. } => PromisedAnswer::Accept { id, then },
            Reply::Refuse(status) => PromisedAnswer::Refuse(status),
            Reply::Nack(status) => PromisedAnswer::Nack(status),
            Reply::Silence => return,
            Reply::Crash => return self.go_on(Then::Cut, desk),
            Reply::Withhold { then, .. } => {
                self.promise_receipts(receipts, desk);
                return self.go_on(then, desk);
            }
        };
        let promised = Promised { request, answer, manner };
        if !script.before_answer {
            self.promise_receipts(receipts, desk);
            return self.promise_answer(due, promised, desk);
        }
        if self.may_deliver() && script.way == Way::Any {
            let receipts = receipts.into_iter().map(|(_, receipt)| receipt).collect();
            self.overtaken.push_back(Overtaken { receipts, due, promised });
        } else {
            let now = desk.now;
            self.promise_receipts(receipts.into_iter().map(|(_, receipt)| (now, receipt)), desk);
            self.promise_answer(due.max(now + OVERTAKE), promised, desk);
        }
    }

    fn promise_receipts(
        &mut self,
        receipts: impl IntoIterator<Item = (Instant, Receipt)>,
        desk: &mut Desk<'_>,
    ) {
        for (due, receipt) in receipts {
            self.work_for_others |= receipt.way == Way::OtherLink || !self.may_deliver();
            desk.outbox.push(due, receipt);
        }
    }

    pub(super) fn promise_answer(&mut self, due: Instant, promised: Promised, desk: &mut Desk<'_>) {
        // Answers leave in order of their time: one that is due at once must not pass one that is due already.
        if due <= desk.now && self.answers.len() == 0 {
            self.reply(&promised, desk);
        } else {
            self.answers.push(due, promised);
        }
    }

    pub(super) fn answer_due(&mut self, desk: &mut Desk<'_>) {
        while self.fate == Fate::Open
            && !self.mute
            && let Some(promised) = self.answers.pop_due(desk.now)
        {
            self.reply(&promised, desk);
        }
    }

    pub(super) fn reply(&mut self, promised: &Promised, desk: &mut Desk<'_>) {
        let Promised { request, answer, manner } = promised;
        let sent = match answer {
            PromisedAnswer::Refuse(status) | PromisedAnswer::Nack(status) => {
                let start = self.session.output().len();
                let sent = self.session.refuse(*request, *status, desk.moment);
                if sent.is_ok() {
                    match (answer, manner) {
                        (PromisedAnswer::Nack(_), _) => manner::make_nack(self.session.output(), start),
                        (_, Manner::BodyOnError) => manner::add_body(self.session.output(), start),
                        _ => {}
                    }
                }
                sent
            }
            PromisedAnswer::Accept { id, .. } => {
                let (mut tlvs, mut body) = (TlvBuffer::new(), Vec::new());
                let manner = match manner {
                    // A 3.3 client is sent no TLVs, not even odd ones.
                    Manner::UnknownTlv if !self.session.peer_is_3_4() => Manner::Plain,
                    manner => *manner,
                };
                let pdu = manner::success(manner, id.as_bytes(), &mut tlvs, &mut body);
                self.session.answer(*request, &pdu, desk.moment)
            }
        };
        if sent.is_err() {
            // The session has ended, or a gateway used one sequence number twice.
            desk.log.counts().protocol_errors += 1;
            return;
        }
        if let PromisedAnswer::Accept { then, .. } = answer {
            self.go_on(*then, desk);
        }
    }

    /// What follows an answer, or comes in its place.
    fn go_on(&mut self, then: Then, desk: &mut Desk<'_>) {
        match then {
            Then::GoOn => {}
            Then::Cut => self.fate = Fate::CutAfterFlush,
            Then::Unbind => self.session.unbind(desk.moment),
            Then::Garbage => self.session.output().extend_from_slice(&GARBAGE),
            Then::BadLength(length) => manner::bad_length(length, self.session.output()),
            Then::Stall(time) => self.stalled_until = Some(desk.now + time),
            Then::Mute => self.mute = true,
        }
    }
}
