//! A link's answers: promised when a submit comes, kept until they are due, and written as oddly as the script wants.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hermod_smpp::{CommandStatus, Header, TlvBuffer};

use super::{Link, LinkContext, LinkState};
use crate::carrier::outcome::ReceiptLink;
use crate::carrier::plan::{Decision, FollowUp, Response};
use crate::carrier::receipt::Receipt;
use crate::carrier::response_quirk::{self, ResponseQuirk};
use crate::carrier::submit;

/// A receipt that overtakes its answer on another link gets this much of a start.
const OVERTAKE: Duration = Duration::from_millis(20);
/// ByteStream that are no PDU: the length they claim is beyond every limit.
const GARBAGE: [u8; 32] = [0xff; 32];

/// An answer that is decided and not sent yet.
#[derive(Debug)]
pub(super) struct PendingResponse {
    request: Header,
    answer: PendingKind,
    quirk: ResponseQuirk,
}

#[derive(Debug)]
pub(super) enum PendingKind {
    Accept { id: String, then: FollowUp },
    Reject(CommandStatus),
    Nack(CommandStatus),
}

/// An answer whose receipts go first.
#[derive(Debug)]
pub(super) struct AwaitsReceipts {
    pub(super) receipts: VecDeque<Receipt>,
    pub(super) due: Instant,
    pub(super) promised: PendingResponse,
}

impl PendingResponse {
    /// An answer written as the specification has it.
    pub(super) fn plain(request: Header, answer: PendingKind) -> PendingResponse {
        PendingResponse { request, answer, quirk: ResponseQuirk::Plain }
    }
}

impl Link {
    /// Does with a submit what was decided: now, or later, or never.
    pub(super) fn carry_out(
        &mut self,
        request: Header,
        decided: submit::Decided,
        context: &mut LinkContext<'_>,
    ) {
        let submit::Decided { behaviour, id, receipts, said } = decided;
        for (due, part) in said {
            self.work_for_others |= !self.may_deliver();
            // A reply that finds no room is lost, as on a phone that is switched off.
            context.outbox.say(due, part);
        }
        let Decision { reply, delay, quirk, receipts: script, .. } = behaviour;
        let due = context.now + delay;
        let answer = match reply {
            Response::Accept { then, .. } => PendingKind::Accept { id, then },
            Response::Reject(status) => PendingKind::Reject(status),
            Response::Nack(status) => PendingKind::Nack(status),
            Response::Silence => return,
            Response::Crash => return self.follow_up(FollowUp::Cut, context),
            Response::Withhold { then, .. } => {
                self.promise_receipts(receipts, context);
                return self.follow_up(then, context);
            }
        };
        let promised = PendingResponse { request, answer, quirk };
        if !script.before_response {
            self.promise_receipts(receipts, context);
            return self.promise_answer(due, promised, context);
        }
        if self.may_deliver() && script.way == ReceiptLink::Any {
            let receipts = receipts.into_iter().map(|(_, receipt)| receipt).collect();
            self.overtaken.push_back(AwaitsReceipts { receipts, due, promised });
        } else {
            let now = context.now;
            self.promise_receipts(receipts.into_iter().map(|(_, receipt)| (now, receipt)), context);
            self.promise_answer(due.max(now + OVERTAKE), promised, context);
        }
    }

    fn promise_receipts(
        &mut self,
        receipts: impl IntoIterator<Item = (Instant, Receipt)>,
        context: &mut LinkContext<'_>,
    ) {
        for (due, receipt) in receipts {
            self.work_for_others |= receipt.way == ReceiptLink::OtherLink || !self.may_deliver();
            context.outbox.push(due, receipt);
        }
    }

    pub(super) fn promise_answer(
        &mut self,
        due: Instant,
        promised: PendingResponse,
        context: &mut LinkContext<'_>,
    ) {
        // Answers leave in order of their time: one that is due at once must not pass one that is due already.
        if due <= context.now && self.answers.len() == 0 {
            self.reply(&promised, context);
        } else {
            self.answers.push(due, promised);
        }
    }

    pub(super) fn answer_due(&mut self, context: &mut LinkContext<'_>) {
        while self.state == LinkState::Open
            && !self.mute
            && let Some(promised) = self.answers.pop_due(context.now)
        {
            self.reply(&promised, context);
        }
    }

    pub(super) fn reply(&mut self, promised: &PendingResponse, context: &mut LinkContext<'_>) {
        let PendingResponse { request, answer, quirk } = promised;
        let sent = match answer {
            PendingKind::Reject(status) | PendingKind::Nack(status) => {
                let start = self.session.output().len();
                let sent = self.session.refuse(*request, *status, context.moment);
                if sent.is_ok() {
                    match (answer, quirk) {
                        (PendingKind::Nack(_), _) => response_quirk::make_nack(self.session.output(), start),
                        (_, ResponseQuirk::BodyOnError) => {
                            response_quirk::add_body(self.session.output(), start)
                        }
                        _ => {}
                    }
                }
                sent
            }
            PendingKind::Accept { id, .. } => {
                let (mut tlvs, mut body) = (TlvBuffer::new(), Vec::new());
                let quirk = match quirk {
                    // A 3.3 client is sent no TLVs, not even odd ones.
                    ResponseQuirk::UnknownTlv if !self.session.peer_is_3_4() => ResponseQuirk::Plain,
                    quirk => *quirk,
                };
                let pdu = response_quirk::success(quirk, id.as_bytes(), &mut tlvs, &mut body);
                self.session.answer(*request, &pdu, context.moment)
            }
        };
        if sent.is_err() {
            // The session has ended, or a gateway used one sequence number twice.
            context.log.counts().protocol_errors += 1;
            return;
        }
        if let PendingKind::Accept { then, .. } = answer {
            self.follow_up(*then, context);
        }
    }

    /// What follows an answer, or comes in its place.
    fn follow_up(&mut self, then: FollowUp, context: &mut LinkContext<'_>) {
        match then {
            FollowUp::Nothing => {}
            FollowUp::Cut => self.state = LinkState::CutAfterFlush,
            FollowUp::Unbind => self.session.unbind(context.moment),
            FollowUp::Garbage => self.session.output().extend_from_slice(&GARBAGE),
            FollowUp::BadLength(length) => response_quirk::bad_length(length, self.session.output()),
            FollowUp::Stall(time) => self.stalled_until = Some(context.now + time),
            FollowUp::Mute => self.mute = true,
        }
    }
}
